import { isJsonObject, parseJsonText } from "@agent/crypto";
import { detectKind } from "@agent/verify";
import { decodeText } from "./find-text-fault.ts";

/** Given files that help to verify others. */
export interface Companions {
  /** The texts of proof files of a transparency log. */
  readonly proofs: readonly string[];
  /** The successions of relays' keys, each with its oldest step first. */
  readonly successions: readonly (readonly unknown[])[];
}

/** Collects proof files and the successions of relays' keys, alone or in an identity document. */
export function collectCompanions(files: readonly { readonly bytes: Uint8Array }[]): Companions {
  const texts = files.map(({ bytes }) => decodeText(bytes) ?? "");
  const proofs = texts.filter((text) => text.startsWith("c2sp.org/tlog-proof@"));
  const successions = texts.map(readSuccession).filter((list) => list !== null);
  return { proofs, successions };
}

function readSuccession(text: string): readonly unknown[] | null {
  // The text is searched for names first, because parsing every large file twice would be slow.
  if (!text.includes('"new_public_key"') || !text.includes('"relay_id"')) return null;
  const value = parseJsonText(text)?.value;
  const list = isJsonObject(value) ? (value["succession"] ?? [value]) : value;
  return Array.isArray(list) && detectKind(list) === "relay_succession" ? list : null;
}
