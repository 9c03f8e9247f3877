import { ClientMessage, type Refusal } from "@agent/wire";
import { parseJsonObject } from "../http/server/body.ts";
import { validate } from "../http/server/validate.ts";

type ParsedMessage = { readonly ok: true; readonly message: ClientMessage } | Refusal;

/**
 * Parses a frame's text into a message of the contract, or the refusal that a request would get.
 */
export function parseClientMessage(text: string): ParsedMessage {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) return parsed;
  const checked = validate(ClientMessage, parsed.value);
  return checked.ok ? { ok: true, message: checked.value as ClientMessage } : checked;
}
