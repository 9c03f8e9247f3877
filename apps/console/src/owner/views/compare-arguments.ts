import {
  canonicalize,
  isJsonObject,
  readJsonText,
  sha256Hex,
  unlessMalformed,
} from "@agent/crypto";

/**
 * Whether a text contains the arguments whose hash an approval names. `ambiguous`: parsers read the text
 * differently, so the call may have other arguments than the owner sees.
 */
export type ArgumentsVerdict = "same" | "different" | "ambiguous" | "not_json";

/** Compares arguments that the owner knows from another source with the hash that the vote signs. */
export function compareArguments(text: string, argsHash: string): ArgumentsVerdict {
  const read = readJsonText(text);
  if ("fault" in read) return read.fault.isJson ? "ambiguous" : "not_json";
  const { value } = read;
  if (!isJsonObject(value)) return "not_json";
  // The arguments of a call can be canonicalized, so a text that cannot contains others.
  return unlessMalformed(() => sha256Hex(canonicalize(value))) === argsHash ? "same" : "different";
}
