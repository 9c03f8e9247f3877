import {
  hexToBytes,
  isAcceptablePublicKey,
  isKeyDerivedId,
  verifyAgentIdKey,
  verifySuccession,
  type SuccessionRecord,
} from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import type { AgentKeyRow, AgentRow } from "../../storage/tables/agents.ts";

/** One succession step of an agent from a key to the next. */
export interface KeyStep {
  readonly from: string;
  readonly to: string;
  /** The time in the record, in ms. */
  readonly at: number;
  /** The record as it was signed, as JSON. */
  readonly succession: string;
}

/** The decision on a claim to a key. The steps lead to the claimed key, oldest first. */
export type KeyDecision =
  | { readonly ok: true; readonly kind: "same" }
  | { readonly ok: true; readonly kind: "first" | "rotated"; readonly steps: readonly KeyStep[] };

export interface KeyClaim {
  readonly agent_id: string;
  readonly public_key: string;
  /** A succession record, or a list of them, oldest first. */
  readonly succession?: object | undefined;
}

type KeyRefusal = Refusal<
  | "agent.key_unacceptable"
  | "agent.id_not_of_key"
  | "agent.key_changed"
  | "agent.key_displaced"
  | "agent.succession_invalid"
  | "agent.revoked"
>;

/**
 * Decides whether an agent may bind a key: its first one, its current one, or one that the old key
 * named as successor. The first key of an id of version 8 is the key that the id was derived from
 * (docs/decisions.md, 3 and 6). `history` holds all keys of the agent at this relay.
 */
export function decideKey(
  claim: KeyClaim,
  agent: AgentRow | undefined,
  history: readonly AgentKeyRow[],
  now: number,
): KeyDecision | KeyRefusal {
  if (!isAcceptablePublicKey(hexToBytes(claim.public_key))) return refuse("agent.key_unacceptable");
  if (agent !== undefined && agent.revoked_at !== null) return refuse("agent.revoked");
  const records = toRecords(claim.succession);
  const current = agent?.public_key ?? null;
  if (current === claim.public_key) return { ok: true, kind: "same" };
  if (current === null && history.length === 0) return decideFirstKey(claim, records, now);
  if (records.length === 0) {
    return refuse(current === null ? "agent.key_displaced" : "agent.key_changed");
  }
  return decideRotation(claim, {
    current: current ?? getNewestKey(history),
    records,
    history,
    now,
  });
}

function decideFirstKey(
  claim: KeyClaim,
  records: readonly SuccessionRecord[],
  now: number,
): KeyDecision | KeyRefusal {
  // Any other id proves nothing about its first key, so its succession records prove nothing.
  if (!isKeyDerivedId(claim.agent_id)) return { ok: true, kind: "first", steps: [] };
  const refused = checkRecords(records, { history: [], now });
  if (refused !== undefined) return refused;
  const verified = verifyAgentIdKey(claim.agent_id, claim.public_key, records);
  if (verified.ok) return { ok: true, kind: "first", steps: records.map(toKeyStep) };
  return verified.code === "agent.id_not_of_key"
    ? refuse(verified.code)
    : refuse("agent.succession_invalid", verified.code);
}

interface RotationContext {
  readonly current: string;
  readonly records: readonly SuccessionRecord[];
  readonly history: readonly AgentKeyRow[];
  readonly now: number;
}

function decideRotation(
  claim: KeyClaim,
  { current, records, history, now }: RotationContext,
): KeyDecision | KeyRefusal {
  // A complete chain may begin before the key that this relay knows.
  const known = records.findIndex((record) => record?.old_public_key === current);
  const steps = known < 0 ? records : records.slice(known);
  const refused = checkRecords(steps, { history, now });
  if (refused !== undefined) return refused;
  if (steps.at(-1)?.new_public_key !== claim.public_key) {
    return refuse("agent.succession_invalid", "new_public_key must equal public_key");
  }
  const former = history.map((key) => hexToBytes(key.public_key));
  let key = current;
  let after = getLastSuccessionTime(history);
  for (const record of steps) {
    const verified = verifySuccession(record, {
      agentId: claim.agent_id,
      currentPublicKey: hexToBytes(key),
      formerPublicKeys: former,
      after,
    });
    if (!verified.ok) return refuse("agent.succession_invalid", verified.code);
    former.push(hexToBytes(key));
    key = record.new_public_key;
    after = record.timestamp;
  }
  return { ok: true, kind: "rotated", steps: steps.map(toKeyStep) };
}

/** Checks each record's limits before any signature is verified. */
function checkRecords(
  records: readonly SuccessionRecord[],
  { history, now }: Pick<RotationContext, "history" | "now">,
): KeyRefusal | undefined {
  // The whole chain is public, so its size is bounded.
  const { successionCharacters: max } = limits;
  if (records.some((record) => JSON.stringify(record).length > max)) {
    return refuse("agent.succession_invalid", `must not be longer than ${max}`);
  }
  if (history.length + records.length > limits.agentKeys) {
    return refuse("agent.succession_invalid", `the agent has had ${limits.agentKeys} keys`);
  }
  // A record dated far in the future would block every later rotation.
  if (records.some((record) => record?.timestamp > now + limits.clockSkewMs)) {
    return refuse("agent.succession_invalid", "timestamp must not be in the future");
  }
  return undefined;
}

function toRecords(succession: object | undefined): readonly SuccessionRecord[] {
  if (succession === undefined) return [];
  return (Array.isArray(succession) ? succession : [succession]) as SuccessionRecord[];
}

function toKeyStep(record: SuccessionRecord): KeyStep {
  const { old_public_key: from, new_public_key: to, timestamp: at } = record;
  return { from, to, at, succession: JSON.stringify(record) };
}

/** Returns the timestamp of the record that put a key in force; lower than any other for the first key. */
function getSuccessionTime({ succession }: AgentKeyRow): number {
  return succession === null ? -1 : (JSON.parse(succession) as SuccessionRecord).timestamp;
}

/** Finds the last key of a displaced agent. */
function getNewestKey(history: readonly AgentKeyRow[]): string {
  return history.reduce((a, b) => (getSuccessionTime(b) > getSuccessionTime(a) ? b : a)).public_key;
}

/** Returns the timestamp that the next record must exceed. */
function getLastSuccessionTime(history: readonly AgentKeyRow[]): number {
  return Math.max(0, ...history.map(getSuccessionTime));
}
