import { isUuid } from "@agent/crypto";
import { parseDidKey } from "../expected-key.ts";
import type { NamedKey } from "./named-keys.ts";

/** A description of the form of a named key, for messages. */
export const NAMED_KEY_FORM = "64 hex digits or a did:key, alone or as KEY=OWNER";

/**
 * Parses a key as a user writes it: 64 hex digits or a did:key, alone or with its owner, `KEY=agent`,
 * `KEY=relay`, `KEY=agent:ID` or `KEY=relay:ID`. Returns null for anything else.
 */
export function parseNamedKey(text: string): NamedKey | null {
  const [, keyText = "", owner] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const publicKey = /^[0-9a-f]{64}$/i.test(keyText) ? keyText.toLowerCase() : parseDidKey(keyText);
  if (publicKey === null || owner === undefined) return publicKey === null ? null : { publicKey };
  const [, role, id] = /^(agent|relay)(?::(.*))?$/s.exec(owner) ?? [];
  if ((role !== "agent" && role !== "relay") || (id !== undefined && !isUuid(id))) return null;
  return { publicKey, role, id };
}

/** Formats a named key in the form that `parseNamedKey` reads. */
export function formatNamedKey({ publicKey, role, id }: NamedKey): string {
  if (role === undefined) return publicKey;
  return `${publicKey}=${id === undefined ? role : `${role}:${id}`}`;
}
