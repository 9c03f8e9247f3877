import { isJsonObject } from "@agent/crypto";
import { MAX_ARGUMENT_VALUES } from "../tools/calling/check-argument-size.ts";
import { findLargeArguments } from "./find-large-arguments.ts";

export type ParsedMessage =
  /** `isUnread`: the value is a call without its arguments, which hold too many values. */
  | { readonly ok: true; readonly value: unknown; readonly isUnread: boolean }
  | { readonly ok: false; readonly code: "message.not_json" | "message.too_large" };

/**
 * Parses a JSON-RPC message in UTF-8. Arguments with too many values are left out instead of
 * parsed, because parsing alone would stop the event loop for several ms; the rest is enough to
 * refuse the call.
 */
export function parseMessage(bytes: Buffer): ParsedMessage {
  const found = findLargeArguments(bytes, MAX_ARGUMENT_VALUES);
  switch (found.size) {
    case "small":
      return parseText(bytes.toString(), false);
    case "large":
      return { ok: false, code: "message.too_large" };
    case "large-arguments": {
      const rest = parseText(
        `${bytes.toString("utf8", 0, found.from)}{}${bytes.toString("utf8", found.to)}`,
        true,
      );
      const isCall = rest.ok && isJsonObject(rest.value) && rest.value["method"] === "tools/call";
      return isCall || !rest.ok ? rest : { ok: false, code: "message.too_large" };
    }
  }
}

function parseText(text: string, isUnread: boolean): ParsedMessage {
  try {
    return { ok: true, value: JSON.parse(text), isUnread };
  } catch {
    return { ok: false, code: "message.not_json" };
  }
}
