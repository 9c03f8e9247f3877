import { TaskOrigin } from "@agent/wire";
import * as v from "valibot";
import type { Caller } from "../../caller.ts";
import type { ToolContext } from "../../tools/definition.ts";

/**
 * Reads who submitted the task of a call, for which price, and how long it may take. Only the agent's
 * relay knows it, so what another caller states is ignored.
 */
export function readTaskOrigin(caller: Caller, stated: unknown): ToolContext["origin"] {
  const parsed = v.safeParse(TaskOrigin, stated);
  if (caller.kind !== "relay" || !parsed.success) return undefined;
  const {
    submitted_by: submittedBy,
    estimated_cost: estimatedCost,
    wall_clock_ms: wallClockMs,
  } = parsed.output;
  return {
    ...(submittedBy !== undefined && { submittedBy }),
    estimatedCost,
    ...(wallClockMs !== undefined && { wallClockMs }),
  };
}
