import { isLaterGeneration } from "@agent/transparency";
import { limits } from "@agent/wire";
import type { WitnessedRow } from "../storage/tables/witness.ts";

interface StatedKey {
  readonly relayId: string;
  readonly origin: string;
  readonly vkey: string;
  readonly now: number;
}

/** The stored facts about a stated log. */
export interface KnownLogs {
  /** The log of the stated origin. */
  readonly sameOrigin: Pick<WitnessedRow, "vkey" | "relay_id"> | undefined;
  /** The generations of the relay's log, oldest first. */
  readonly generations: readonly Pick<WitnessedRow, "origin" | "pinned_at">[];
}

export type StatedLogResult = "known" | "new_owner" | "pin" | "too_soon" | "log.key_changed";

/**
 * Checks the log that a relay states as its own. The key of an origin never changes, and a relay has one
 * log, of which each later generation has a greater number than the one before; one begins at most once
 * an hour. An origin that contains the id of another relay is not its own.
 */
export function checkStatedLog(
  { relayId, origin, vkey, now }: StatedKey,
  { sameOrigin, generations }: KnownLogs,
): StatedLogResult {
  if (sameOrigin !== undefined) {
    if (sameOrigin.vkey !== vkey) return "log.key_changed";
    return sameOrigin.relay_id === relayId ? "known" : "new_owner";
  }
  const [, owner] = /^agent-relay\/([^/]+)/u.exec(origin) ?? [];
  if (owner !== undefined && owner !== relayId) return "log.key_changed";
  const last = generations.at(-1);
  if (last === undefined) return "pin";
  if (!isLaterGeneration(last.origin, origin)) return "log.key_changed";
  return now - last.pinned_at < limits.logStatementMs ? "too_soon" : "pin";
}
