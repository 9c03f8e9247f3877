import type { ArtifactKind } from "./kind.ts";

/** The kinds that are JSON. */
export type JsonKind = Exclude<ArtifactKind, "log_proof" | "checkpoint">;

/** The members that every artifact of a kind has and no artifact of another kind needs. */
const kindMembers: readonly (readonly [kind: JsonKind, members: readonly string[]])[] = [
  ["bundle", ["receipt", "signers", "attestation"]],
  ["presentation", ["verifiableCredential", "holder"]],
  ["credential", ["credentialSubject", "issuer"]],
  ["ledger", ["timeline", "content_hash"]],
  ["succession", ["agent_id", "old_public_key", "new_public_key"]],
  ["relay_succession", ["relay_id", "old_public_key", "new_public_key"]],
  ["settlement", ["settlement_id", "allocation_id"]],
  ["no_show", ["claimed_at", "lapsed_at"]],
  ["attestation", ["receipt_hash", "attested_at"]],
  ["delegation_token", ["token_id", "delegate_agent_id"]],
  ["receipt", ["prompt_hash", "result_hash"]],
];

/**
 * Detects the kind of a parsed value by its members; null if they are those of no kind or of
 * several, so that no artifact passes for one of another kind. A list of succession records of
 * agents or of relays, bare or as a relay returns it, has the kind of its records.
 */
export function detectKind(value: unknown): JsonKind | null {
  if (typeof value !== "object" || value === null) return null;
  const list = getSuccessionRecords(value);
  if (list !== null) {
    const kind = detectKind(list[0]);
    const isChain = kind === "succession" || kind === "relay_succession";
    return isChain && list.every((step) => detectKind(step) === kind) ? kind : null;
  }
  if (getNoShowRecords(value) !== null) return "no_show";
  const found = kindMembers.filter(([, members]) =>
    members.every((name) => Object.hasOwn(value, name)),
  );
  const [first, second] = found;
  return first !== undefined && second === undefined ? first[0] : null;
}

/** Returns the no-show records of a relay's answer for an expired task; null for anything else. */
export function getNoShowRecords(value: object): readonly unknown[] | null {
  const list: unknown =
    "no_shows" in value && Object.keys(value).length === 1 ? value.no_shows : null;
  return Array.isArray(list) &&
    list.length > 0 &&
    list.every((each) => detectKind(each) === "no_show")
    ? list
    : null;
}

/** Returns the records of a succession chain; null for anything but a list of at least one. */
export function getSuccessionRecords(value: object): readonly unknown[] | null {
  const list: unknown = Array.isArray(value)
    ? value
    : Object.hasOwn(value, "chain")
      ? (value as { chain: unknown }).chain
      : null;
  return Array.isArray(list) && list.length > 0 ? list : null;
}
