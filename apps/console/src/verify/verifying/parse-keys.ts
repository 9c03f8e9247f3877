import { type NamedKey, parseNamedKey } from "@agent/verify";

export type ParsedKeys =
  | { readonly ok: true; readonly keys: readonly NamedKey[] }
  | { readonly ok: false; readonly word: string };

/** Parses keys that are separated by spaces or commas, each in the format of the option `--key`. */
export function parseKeys(text: string): ParsedKeys {
  const keys: NamedKey[] = [];
  for (const word of text.split(/[\s,]+/).filter(Boolean)) {
    const key = parseNamedKey(word);
    if (key === null) return { ok: false, word };
    keys.push(key);
  }
  return { ok: true, keys };
}
