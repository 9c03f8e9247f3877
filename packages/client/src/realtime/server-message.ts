import { ServerMessage } from "@agent/wire";
import * as v from "valibot";

/** What the relay said, or null when it is none of the contract's messages: a newer relay may say more. */
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
