import { isLaterGeneration } from "@agent/transparency";
import { limits } from "@agent/wire";
import type { WitnessedRow } from "../storage/tables/witness.ts";

interface StatedKey {
  readonly relayId: string;
  readonly origin: string;
  readonly vkey: string;
  /** The key that the operator named for this origin. */
  readonly named?: string | undefined;
  readonly now: number;
}

/** The stored facts about a stated log. */
export interface KnownLogs {
  /** The log of the stated origin; `isOfPeer` if the relay that states it was not removed. */
  readonly sameOrigin:
    | (Pick<WitnessedRow, "vkey" | "relay_id"> & { readonly isOfPeer: boolean })
    | undefined;
  /** The generations of the relay's log, oldest first. */
  readonly generations: readonly Pick<WitnessedRow, "origin" | "pinned_at">[];
}

export type StatedLogResult =
  | "known"
  | "new_owner"
  | "of_other_peer"
  | "pin"
  | "too_soon"
  | "log.key_changed";

/**
 * Checks the log that a relay states as its own. The key of an origin never changes. A relay has one log,
 * each later generation of which has a greater number than the previous one and begins at most once an
 * hour. An origin that contains the id of another relay, or that the operator named with another key, is
 * not its own. Anyone can repeat the key of a log, so a log with another name stays with the peer that
 * stated it first; otherwise it would no longer be cosigned once a relay that took it over has left.
 */
export function checkStatedLog(
  { relayId, origin, vkey, named, now }: StatedKey,
  { sameOrigin, generations }: KnownLogs,
): StatedLogResult {
  const [, owner] = /^agent-relay\/([^/]+)/u.exec(origin) ?? [];
  if (owner !== undefined && owner !== relayId) return "log.key_changed";
  if (named !== undefined && named !== vkey) return "log.key_changed";
  if (sameOrigin !== undefined) {
    if (sameOrigin.vkey !== vkey) return "log.key_changed";
    if (sameOrigin.relay_id === relayId) return "known";
    return sameOrigin.isOfPeer && owner === undefined ? "of_other_peer" : "new_owner";
  }
  const last = generations.at(-1);
  if (last === undefined) return "pin";
  if (!isLaterGeneration(last.origin, origin)) return "log.key_changed";
  return now - last.pinned_at < limits.logStatementMs ? "too_soon" : "pin";
}
