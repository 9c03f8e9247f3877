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

/** The specification names no step here; without one the event is of the step that is open. */
const step_id = v.optional(text);

const payloads = {
  goal_started: v.object({ goal_id: text }),
  plan_created: v.object({ plan_id: text, title: string, total_steps: count }),
  step_started: v.object({ step_id: text, ordinal: count, description: string }),
  tool_invoked: v.object({ tool: text, args_hash: hex32, call_id: text, step_id }),
  tool_result: v.object({ tool: text, ok: boolean, duration_ms: duration, call_id: text, step_id }),
  step_completed: v.object({ tool_calls_made: count, step_id }),
  // The specification says what `error` and the final `status` are, not what they are called: a
  // writer who calls them otherwise is not at fault.
  step_failed: v.object({ error: v.optional(string), step_id }),
  step_delegated: v.object({ task_id: text, step_id }),
  plan_completed: v.object({}),
  plan_failed: v.object({ reason: string }),
  goal_completed: v.object({ status: v.optional(oneOf(LEDGER_STATUSES)) }),
};

export type LedgerEventType = keyof typeof payloads;

/** The eleven types of event, in the order of the specification's table. */
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

/** The shape of one event; verify the value as it came, not this schema's output. */
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

/** As `LedgerEventSchema`; its output has the members that are named here and no others. */
export const BareEventSchema = v.variant(
  "type",
  LEDGER_EVENT_TYPES.map((type) =>
    v.object({ timestamp: time, type: v.literal(type), payload: payloads[type] }),
  ),
) as v.GenericSchema<unknown, LedgerEvent>;
