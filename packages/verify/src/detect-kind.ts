import type { ArtifactKind } from "./kind.ts";

/** The kinds that are JSON. */
export type JsonKind = Exclude<ArtifactKind, "log_proof" | "checkpoint">;

/** The members that identify a kind: every artifact of the kind has them, and no other kind needs them. */
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
 * The members of a relay's answer about an agent's keys. Only the chain is signed, and the other members
 * are compared with it. No further members are allowed, because they would be neither.
 */
const answerMembers: ReadonlySet<string> = new Set([
  "agent_id",
  "current_public_key",
  "keys",
  "chain",
]);

/**
 * Detects the kind of a parsed value by its members; null if it has the members of no kind or of several,
 * so that no artifact passes for one of another kind. A list of succession records of agents or of relays,
 * bare or as a relay returns it, has the kind of its records.
 */
export function detectKind(value: unknown): JsonKind | null {
  if (typeof value !== "object" || value === null) return null;
  const records = getSuccessionRecords(value);
  if (records !== null) return findChainKind(value, records);
  return getNoShowRecords(value) === null ? findMarkedKind(value) : "no_show";
}

/**
 * If a value has the marks of several kinds, it is of the only one whose other members it also has, because
 * a signer may add members to its artifact. Does not look into lists or chains, so that nesting them causes
 * no recursion.
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
  // A relay's answer has no members besides its succession records, and they would not be compared.
  const isAlone = Array.isArray(value) || Object.keys(value).length === 1;
  return kind === "relay_succession" && isAlone ? kind : null;
}

/** Returns the no-show records of a relay's answer for an expired task; null for anything else. */
export function getNoShowRecords(value: object): readonly unknown[] | null {
  const list: unknown =
    "no_shows" in value && Object.keys(value).length === 1 ? value.no_shows : null;
  return Array.isArray(list) &&
    list.length > 0 &&
    // A hole in a list is not a record, and `every` skips it.
    Array.from(list, findMarkedKind).every((kind) => kind === "no_show")
    ? list
    : null;
}

/**
 * Returns the records of a succession chain, of a bare list or of a relay's answer; null for anything else
 * and for an empty chain. A `chain` next to other members is an ordinary member, not a mark.
 */
export function getSuccessionRecords(value: object): readonly unknown[] | null {
  const list: unknown = Array.isArray(value)
    ? value
    : Object.hasOwn(value, "chain") && Object.keys(value).every((name) => answerMembers.has(name))
      ? (value as { chain: unknown }).chain
      : null;
  return Array.isArray(list) && list.length > 0 ? list : null;
}
