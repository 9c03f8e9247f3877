import {
  canonicalize,
  isJsonObject,
  readJsonText,
  sha256Hex,
  unlessMalformed,
} from "@agent/crypto";

/**
 * Whether a text is the arguments whose hash an approval names. `ambiguous`: readers understand the text in
 * different ways, so that the call may have other arguments than the owner reads.
 */
export type ArgumentsVerdict = "same" | "different" | "ambiguous" | "not_json";

/** Compares arguments that the owner knows from elsewhere with the hash that the vote signs. */
export function compareArguments(text: string, argsHash: string): ArgumentsVerdict {
  const read = readJsonText(text);
  if ("fault" in read) return read.fault.isJson ? "ambiguous" : "not_json";
  const { value } = read;
  if (!isJsonObject(value)) return "not_json";
  // The arguments of a call have canonical JSON, so a text without it is of others.
  return unlessMalformed(() => sha256Hex(canonicalize(value))) === argsHash ? "same" : "different";
}
