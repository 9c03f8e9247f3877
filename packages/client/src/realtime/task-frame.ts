import { TaskEvent, getEnumWords, type Received } from "@agent/wire";
import type { EventSourceMessage } from "eventsource-parser";
import * as v from "valibot";
import { parseJson } from "../calls/parse-answer.ts";
import { refusal, type CallRefusal } from "../calls/refusal.ts";

/** An event of any type. */
const AnyEventSchema = v.object({
  event_id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  type: v.string(),
  task_id: v.string(),
});

const KNOWN_TYPES: ReadonlySet<string> = new Set(getEnumWords(TaskEvent.entries.type));

export interface TaskFrame {
  readonly ok: true;
  readonly number: number;
  /** Undefined for an unknown type, which a newer relay may send. */
  readonly event: Received<typeof TaskEvent> | undefined;
}

/** Parses a frame of a task's stream; refused with `response.malformed`. */
export function parseFrame(
  { id, data }: EventSourceMessage,
  { taskId, seen }: { readonly taskId: string; readonly seen: number },
): TaskFrame | CallRefusal {
  const json = parseJson(data);
  const parsed = v.safeParse(AnyEventSchema, json);
  if (!parsed.success) return malformed("Frame is not an event of a task");
  const { event_id: number, type, task_id } = parsed.output;
  if (task_id !== taskId) return malformed("Frame is an event of another task");
  if (id !== String(number)) return malformed("Frame id differs from its event_id");
  if (number > seen + 1) return malformed(`Event ${number} follows event ${seen}`);
  if (!KNOWN_TYPES.has(type)) return { ok: true, number, event: undefined };
  const event = v.safeParse(TaskEvent, json);
  return event.success
    ? { ok: true, number, event: event.output }
    : malformed(`Frame is not an event of type ${type}`);
}

const malformed = (message: string) => refusal("response.malformed", message, 200);
