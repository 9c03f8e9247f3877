import {
  hexToBytes,
  isAcceptablePublicKey,
  verifySuccession,
  type SuccessionRecord,
} from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import type { AgentKeyRow, AgentRow } from "../storage/tables/agents.ts";

/** What a claim "this key is mine now" comes to. */
export type KeyDecision =
  | { readonly kind: "first" | "same" }
  | { readonly kind: "rotated"; readonly from: string; readonly succession: string };

export interface KeyClaim {
  readonly agent_id: string;
  readonly public_key: string;
  readonly succession?: object | undefined;
}

/**
 * Decides whether an agent may carry a key: its first one, the one it has, or one that the old key
 * handed over to (docs/decisions.md, 3 and 6). `history` is oldest first.
 */
export function decideKey(
  claim: KeyClaim,
  agent: AgentRow | undefined,
  history: readonly AgentKeyRow[],
  now: number,
):
  | KeyDecision
  | Refusal<
      "agent.key_unacceptable" | "agent.key_changed" | "agent.succession_invalid" | "agent.revoked"
    > {
  if (!isAcceptablePublicKey(hexToBytes(claim.public_key))) return refuse("agent.key_unacceptable");
  if (agent !== undefined && agent.revoked_at !== null) return refuse("agent.revoked");
  const current = agent?.public_key ?? null;
  if (current === null) return { kind: "first" };
  if (current === claim.public_key) return { kind: "same" };
  if (claim.succession === undefined) return refuse("agent.key_changed");

  const record = claim.succession as SuccessionRecord;
  const succession = JSON.stringify(record);
  // Everybody may read the whole chain, so it stays of a size to be read.
  if (succession.length > limits.successionCharacters) {
    return refuse("agent.succession_invalid", `longer than ${limits.successionCharacters}`);
  }
  if (history.length >= limits.agentKeys) {
    return refuse("agent.succession_invalid", `the agent has had ${limits.agentKeys} keys`);
  }
  if (record.new_public_key !== claim.public_key) {
    return refuse("agent.succession_invalid", "new_public_key is not public_key");
  }
  const verified = verifySuccession(record, {
    agentId: claim.agent_id,
    currentPublicKey: hexToBytes(current),
    formerPublicKeys: history.map((key) => hexToBytes(key.public_key)),
    after: lastSuccession(history),
  });
  if (!verified.ok) return refuse("agent.succession_invalid", verified.code);
  // A record from the far future would bar every later rotation.
  if (record.timestamp > now + limits.clockSkewMs) {
    return refuse("agent.succession_invalid", "timestamp is in the future");
  }
  return { kind: "rotated", from: current, succession };
}

/** The timestamp that the next record has to be later than. */
function lastSuccession(history: readonly AgentKeyRow[]): number {
  const records = history.flatMap(({ succession }) =>
    succession === null ? [] : [(JSON.parse(succession) as SuccessionRecord).timestamp],
  );
  return Math.max(0, ...records);
}
