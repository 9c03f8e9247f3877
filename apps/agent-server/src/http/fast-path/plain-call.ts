import { isJsonObject } from "@agent/crypto";
import { UNREAD_ARGUMENTS } from "../../tools/calling/check-argument-size.ts";
import { parseMessage } from "../parse-message.ts";

/** A `tools/call` of the older era with only a name and arguments. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly arguments?: object;
}

/**
 * Parses a plain call. Undefined is not a refusal: the official library handles all other messages.
 */
export function parsePlainCall(body: Buffer): PlainCall | undefined {
  const parsed = parseMessage(body);
  if (!parsed.ok) return undefined;
  const { value: message, isUnread } = parsed;
  if (!isJsonObject(message) || Object.keys(message).length !== 4) return undefined;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isJsonObject(params)) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;

  const { name, arguments: args } = params;
  if (typeof name !== "string") return undefined;
  const call = { id: id as string | number, name };
  const members = Object.keys(params).length;
  if (members === 1) return call;
  if (members !== 2 || !isJsonObject(args)) return undefined;
  return { ...call, arguments: isUnread ? UNREAD_ARGUMENTS : args };
}
