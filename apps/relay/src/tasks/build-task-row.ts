import { ZERO } from "@agent/budget";
import type { SubmitTaskBody } from "@agent/wire";
import { formatCurrentTrace } from "../observability/trace.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";

type Work = Pick<SubmitTaskBody, "prompt" | "required_capabilities" | "wall_clock_ms">;

interface NewTask extends Pick<
  TaskRow,
  "task_id" | "agent_id" | "submitted_by" | "origin_peer" | "expires_at"
> {
  readonly work: Work;
  readonly attempts: readonly [Attempt, ...Attempt[]];
  readonly now: number;
}

/** Builds the row of a pending task at its first attempt, before its money is held. */
export function buildTaskRow({ work, attempts, now, ...ids }: NewTask): TaskRow {
  const [first] = attempts;
  return {
    ...ids,
    assigned_to: first.agent_id === ids.agent_id ? null : first.agent_id,
    status: "pending",
    prompt: work.prompt,
    required_capabilities: JSON.stringify(work.required_capabilities ?? []),
    submitted_at: now,
    wall_clock_ms: work.wall_clock_ms ?? null,
    step_id: null,
    routing_choice: null,
    attempts: JSON.stringify(attempts),
    attempt: 0,
    via_peer: first.via?.relay_id ?? null,
    charge: first.charge,
    locked: ZERO,
    allocation_id: null,
    claimed_by: null,
    lease_until: null,
    blamed: 0,
    receipt_hash: null,
    finished_at: null,
    delegation_token: null,
    trace: formatCurrentTrace(),
    depth: 0,
    ancestors: null,
    acceptance: null,
  };
}
