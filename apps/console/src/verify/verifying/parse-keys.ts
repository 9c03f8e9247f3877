import { bytesToHex, didKeyToPublicKey, unlessMalformed } from "@agent/crypto";

export type ParsedKeys =
  | { readonly ok: true; readonly keys: readonly string[] }
  | { readonly ok: false; readonly word: string };

/** Parses keys that are separated by spaces or commas, each 64 hex digits or a did:key, to hex. */
export function parseKeys(text: string): ParsedKeys {
  const keys: string[] = [];
  for (const word of text.split(/[\s,]+/).filter(Boolean)) {
    const key = parseKey(word);
    if (key === undefined) return { ok: false, word };
    keys.push(key);
  }
  return { ok: true, keys };
}

function parseKey(word: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(word)) return word.toLowerCase();
  return unlessMalformed(() => bytesToHex(didKeyToPublicKey(word)));
}
