import { parseKey } from "./parse-arguments.node.ts";

/**
 * Parses the keys of a trust file: one per line, as a did:key or 64 hex digits; `#` begins a
 * comment. A line that is neither refuses the whole file, because a key would be missing without
 * notice.
 */
export function parseTrustFile(
  text: string,
):
  | { readonly ok: true; readonly keys: readonly string[] }
  | { readonly ok: false; readonly message: string } {
  const keys: string[] = [];
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    const entry = line.replace(/#.*/, "").trim();
    if (entry === "") continue;
    const key = parseKey(entry);
    if (key === null) {
      return { ok: false, message: `line ${index + 1} must be 64 hex digits or a did:key` };
    }
    keys.push(key);
  }
  return keys.length === 0 ? { ok: false, message: "names no key" } : { ok: true, keys };
}
