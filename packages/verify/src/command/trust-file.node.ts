import type { NamedKey } from "../keys/named-keys.ts";
import { NAMED_KEY_FORM, parseNamedKey } from "../keys/parse-named-key.ts";

/**
 * Parses the keys of a trust file: one per line, optionally with its owner (KEY=OWNER); `#` begins a
 * comment. Any other line refuses the whole file; otherwise a key would be missing without notice.
 */
export function parseTrustFile(
  text: string,
):
  | { readonly ok: true; readonly keys: readonly NamedKey[] }
  | { readonly ok: false; readonly message: string } {
  const keys: NamedKey[] = [];
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    const entry = line.replace(/#.*/, "").trim();
    if (entry === "") continue;
    const key = parseNamedKey(entry);
    if (key === null) {
      return { ok: false, message: `line ${index + 1} must be ${NAMED_KEY_FORM}` };
    }
    keys.push(key);
  }
  return keys.length === 0 ? { ok: false, message: "names no key" } : { ok: true, keys };
}
