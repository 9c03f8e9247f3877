import { ServerMessage } from "@agent/wire";
import * as v from "valibot";
import { parseJson } from "../calls/parse-answer.ts";

/** Parses a message of the relay; returns null for unknown messages, which a newer relay may send. */
export function parseServerMessage(text: string): ServerMessage | null {
  const parsed = v.safeParse(ServerMessage, parseJson(text));
  return parsed.success ? parsed.output : null;
}
