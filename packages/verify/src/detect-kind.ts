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

const signedMembers = ["suite", "signature"];
const stepMembers = ["timestamp", "suite", "old_key_signature", "new_key_signature"];

/** The other members that a kind requires. */
const otherMembers: Readonly<Record<JsonKind, readonly string[]>> = {
  bundle: ["spec", "relay_id", "issuer", "task", "routing", "settlements", ...signedMembers],
  presentation: ["@context", "type", "proof"],
  credential: ["@context", "type", "validFrom", "proof"],
  ledger: ["spec", "agent_id", "goal_id", "plan_id", "started_at", "status", "steps"],
  succession: stepMembers,
  relay_succession: stepMembers,
  settlement: ["task_id", "payer_id", "payee_id", "amount_settled", "issuer", ...signedMembers],
  no_show: ["task_id", "agent_id", "wall_clock_ms", "priced", "issuer", ...signedMembers],
  attestation: ["relay_id", "task_id", "received_at", ...signedMembers],
  delegation_token: ["issuer_agent_id", "issuer_public_key", "scope", ...signedMembers],
  receipt: ["task_id", "agent_id", "device_id", "status", "result", "tools_used", ...signedMembers],
};

/**
 * The members of a relay's answer about an agent's keys. Only the chain is signed, and the others are
 * compared with it, so nothing else may stand beside it: it would be neither.
 */
const answerMembers: ReadonlySet<string> = new Set([
  "agent_id",
  "current_public_key",
  "keys",
  "chain",
]);

/**
 * Detects the kind of a parsed value by its members; null if they are all those of no kind or of
 * several, so that no artifact passes for one of another kind. A list of succession records of
 * agents or of relays, bare or as a relay returns it, has the kind of its records.
 */
export function detectKind(value: unknown): JsonKind | null {
  if (typeof value !== "object" || value === null) return null;
  const records = getSuccessionRecords(value);
  if (records !== null) return findChainKind(value, records);
  return getNoShowRecords(value) === null ? findMarkedKind(value) : "no_show";
}

/**
 * Several marks decide for the only kind whose other members are there too, because a signer may add
 * members to its artifact. Does not look into lists or chains, so that no nesting of them leads to recursion.
 */
function findMarkedKind(value: unknown): JsonKind | null {
  if (typeof value !== "object" || value === null) return null;
  const holds = (members: readonly string[]) => members.every((name) => Object.hasOwn(value, name));
  const marked = kindMembers.filter(([, members]) => holds(members));
  const found = marked.length > 1 ? marked.filter(([kind]) => holds(otherMembers[kind])) : marked;
  const [first, second] = found;
  return first !== undefined && second === undefined ? first[0] : null;
}

function findChainKind(value: object, records: readonly unknown[]): JsonKind | null {
  const kind = findMarkedKind(records[0]);
  if (!records.every((step) => findMarkedKind(step) === kind)) return null;
  if (kind === "succession") return kind;
  // No relay answers with members beside the steps of its own key, and none would be compared.
  const isAlone = Array.isArray(value) || Object.keys(value).length === 1;
  return kind === "relay_succession" && isAlone ? kind : null;
}

/** Returns the no-show records of a relay's answer for an expired task; null for anything else. */
export function getNoShowRecords(value: object): readonly unknown[] | null {
  const list: unknown =
    "no_shows" in value && Object.keys(value).length === 1 ? value.no_shows : null;
  return Array.isArray(list) &&
    list.length > 0 &&
    // A hole of a list is no record, and `every` passes over it.
    Array.from(list, findMarkedKind).every((kind) => kind === "no_show")
    ? list
    : null;
}

/**
 * Returns the records of a succession chain, of a bare list or of a relay's answer; null for anything
 * else and for an empty chain. `chain` beside other members is one of them, not a mark.
 */
export function getSuccessionRecords(value: object): readonly unknown[] | null {
  const list: unknown = Array.isArray(value)
    ? value
    : Object.hasOwn(value, "chain") && Object.keys(value).every((name) => answerMembers.has(name))
      ? (value as { chain: unknown }).chain
      : null;
  return Array.isArray(list) && list.length > 0 ? list : null;
}
