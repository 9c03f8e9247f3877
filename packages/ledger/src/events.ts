import * as v from "valibot";
import {
  boolean,
  count,
  duration,
  hex32,
  looseMembers,
  oneOf,
  string,
  text,
  time,
} from "./fields.ts";
import { LEDGER_STATUSES } from "./statuses.ts";

/** The specification defines no step here; an event without one belongs to the open step. */
const step_id = v.optional(text);

const payloads = {
  goal_started: v.object({ goal_id: text }),
  plan_created: v.object({ plan_id: text, title: string, total_steps: count }),
  step_started: v.object({ step_id: text, ordinal: count, description: string }),
  tool_invoked: v.object({ tool: text, args_hash: hex32, call_id: text, step_id }),
  tool_result: v.object({ tool: text, ok: boolean, duration_ms: duration, call_id: text, step_id }),
  step_completed: v.object({ tool_calls_made: count, step_id }),
  // The specification defines the meaning of `error` and the final `status`, but not their names,
  // so other names are accepted.
  step_failed: v.object({ error: v.optional(string), step_id }),
  step_delegated: v.object({ task_id: text, step_id }),
  plan_completed: v.object({}),
  plan_failed: v.object({ reason: string }),
  goal_completed: v.object({ status: v.optional(oneOf(LEDGER_STATUSES)) }),
};

/** The name of an event type (specification, Ledger timeline event types). */
export type LedgerEventType = keyof typeof payloads;

/** The eleven event types, in the order of the specification's table. */
export const LEDGER_EVENT_TYPES = Object.keys(payloads) as readonly LedgerEventType[];

/**
 * One event of a timeline (specification, Ledger timeline event types): `timestamp` in ms since the
 * epoch, `args_hash` in hex, `duration_ms` in ms. Members without a name here are signed as well.
 */
export type LedgerEvent<Type extends LedgerEventType = LedgerEventType> = {
  [Each in Type]: {
    timestamp: number;
    type: Each;
    payload: v.InferOutput<(typeof payloads)[Each]>;
  };
}[Type];

/** The schema of one event. Verify the original value, not this schema's output. */
export const LedgerEventSchema = v.variant(
  "type",
  LEDGER_EVENT_TYPES.map((type) =>
    looseMembers({
      timestamp: time,
      type: v.literal(type),
      payload: looseMembers(payloads[type].entries),
    }),
  ),
  ({ expected }) =>
    expected === "Object"
      ? "must be a JSON object"
      : `must be one of: ${LEDGER_EVENT_TYPES.join(", ")}`,
) as v.GenericSchema<LedgerEvent>;

/** The schema of one event; its output contains only the named members. */
export const BareEventSchema = v.variant(
  "type",
  LEDGER_EVENT_TYPES.map((type) =>
    v.object({ timestamp: time, type: v.literal(type), payload: payloads[type] }),
  ),
) as v.GenericSchema<unknown, LedgerEvent>;
