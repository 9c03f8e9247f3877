import { canonicalize, isJsonObject, parseJsonText, sha256Hex } from "@agent/crypto";

/** Whether a text is the arguments whose hash an approval names. */
export type ArgumentsVerdict = "same" | "different" | "not_json";

/** Compares arguments that the owner knows from elsewhere with the hash that the vote signs. */
export function compareArguments(text: string, argsHash: string): ArgumentsVerdict {
  const parsed = parseJsonText(text)?.value;
  if (!isJsonObject(parsed)) return "not_json";
  return sha256Hex(canonicalize(parsed)) === argsHash ? "same" : "different";
}
