import { ServerMessage } from "@agent/wire";
import * as v from "valibot";

/** Parses a message of the relay; returns null for unknown messages, which a newer relay may send. */
export function parseServerMessage(text: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = v.safeParse(ServerMessage, value);
  return parsed.success ? parsed.output : null;
}
