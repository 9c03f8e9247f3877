import { isAgentIdOfKey, isKeyDerivedId } from "@agent/crypto";
import { RECEIPT_LIMITS } from "@agent/receipts";
import type { ProofLevelName } from "../proof-levels.ts";
import { parseNamedKey } from "./parse-named-key.ts";

/** The roles in which an owner signs with its key. */
export type KeyRole = "agent" | "relay";

/** A key that the verifier named, optionally for one owner only. */
export interface NamedKey {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  /** The only role in which it counts; absent for any role. */
  readonly role?: KeyRole | undefined;
  /** The id of the only owner that it counts for; absent for any owner in the role. */
  readonly id?: string | undefined;
  /** When the owner replaced the key, in ms; absent while it is in use. */
  readonly endedAt?: number | undefined;
}

/**
 * The keys that a verifier named. A text must be in a form that `parseNamedKey` accepts; any other text is
 * ignored.
 */
export type NamedKeys = string | readonly (string | NamedKey)[];

/** The signer that an artifact claims. */
export interface StatedSigner {
  /** Absent if agents and relays sign alike. */
  readonly role?: KeyRole | undefined;
  /** Absent if the artifact names its signer only by the key; may be any value in a malformed artifact. */
  readonly id?: unknown;
  /** The signer's oldest key, if succession records show it; otherwise the signing key. */
  readonly firstKey?: string | undefined;
  /** The time of the signature in ms. */
  readonly signedAt?: number | undefined;
}

/** The reasons why a key does not count for a signer. */
export type KeyFault = "artifact.key_unbound" | "bundle.key_not_in_force";

/** The proof level that fails with each fault. */
export const KEY_FAULT_LEVELS = {
  "artifact.key_unbound": "key_bound",
  "bundle.key_not_in_force": "key_valid",
} as const satisfies Record<KeyFault, ProofLevelName>;

/**
 * Returns why a signing key does not count for the claimed signer of an artifact; undefined if it counts. A
 * key named for an owner does not count for any other, and a key without an owner does not count for a
 * version 8 agent id that was derived from another key. A former key counts until five minutes after its
 * end.
 */
export function findKeyFault(
  key: string | null,
  named: NamedKeys,
  signer: StatedSigner,
): KeyFault | undefined {
  const counting = listNamedKeys(named).filter(
    (each) => each.publicKey === key && isOwnedBy(each, signer),
  );
  if (counting.length === 0) return "artifact.key_unbound";
  const isInForce = counting.some(({ endedAt }) => isBeforeEnd(signer.signedAt, endedAt));
  return isInForce ? undefined : "bundle.key_not_in_force";
}

/** Returns the named keys that count for a signer, whether or not they are still in use. */
export function listKeysFor(named: NamedKeys, signer: StatedSigner): readonly string[] {
  return listNamedKeys(named)
    .filter((each) => isOwnedBy(each, signer))
    .map(({ publicKey }) => publicKey);
}

/** Lists the named keys in a uniform form. */
export function listNamedKeys(named: NamedKeys): readonly NamedKey[] {
  const list = typeof named === "string" ? [named] : named;
  return list.flatMap((each) => (typeof each === "string" ? (parseNamedKey(each) ?? []) : each));
}

function isOwnedBy({ publicKey, role, id }: NamedKey, signer: StatedSigner): boolean {
  const isOfRole = role === undefined || signer.role === undefined || role === signer.role;
  if (!isOfRole || signer.id === undefined) return isOfRole;
  return id === undefined ? isIdAllowed(signer, publicKey) : id === signer.id;
}

/** Returns whether an id can belong to a key: an agent id of version 8 shows the first key of its agent. */
export function isIdAllowed({ role, id, firstKey }: StatedSigner, publicKey: string): boolean {
  if (role !== "agent" || typeof id !== "string" || !isKeyDerivedId(id)) return true;
  return isAgentIdOfKey(id, firstKey ?? publicKey);
}

function isBeforeEnd(signedAt = 0, endedAt: number | undefined): boolean {
  return endedAt === undefined || signedAt < endedAt + RECEIPT_LIMITS.formerKeySkewMs;
}
