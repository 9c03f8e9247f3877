import { getEmptyRoot, parseVerifierKey, formatVerifierKey } from "@agent/transparency";
import type { WitnessedHead } from "@agent/transparency";
import type { Config } from "../config/config.ts";
import { findPeer } from "../federation/peers/peer-store.ts";
import type { Reader } from "../storage/storage.ts";
import { findWitnessed } from "./store.ts";

/** A log that the relay cosigns, with the checkpoint that it cosigned last. */
export interface KnownLog extends WitnessedHead {
  readonly vkey: string;
  /** Empty before the first. */
  readonly note: string;
}

/**
 * Finds a log that the relay cosigns: one that the operator named, or that of a peer which was not
 * removed. The state of a removed peer stays, so that a new handshake cannot roll it back. A peer can have stated
 * the name of another's log as its own; once the operator names a key for it, only that key counts.
 */
export async function findKnownLog(
  read: Reader,
  { witness }: Pick<Config, "witness">,
  origin: string,
): Promise<KnownLog | undefined> {
  const row = await findWitnessed(read, origin);
  const named = witness.logs.find(({ name }) => name === origin);
  const namedVkey = named && formatVerifierKey(named);
  const isOnlyStated = row !== undefined && row.relay_id !== null && row.vkey !== namedVkey;
  if (named !== undefined && namedVkey !== undefined && (row === undefined || isOnlyStated)) {
    return { logKey: named, vkey: namedVkey, size: 0, root: getEmptyRoot(), note: "" };
  }
  if (row === undefined) return undefined;
  const { vkey, relay_id, size, root, note } = row;
  const parsed = parseVerifierKey(vkey);
  const isNamed = namedVkey === vkey;
  if (!parsed.ok || !(isNamed || (await isPeer(read, relay_id)))) return undefined;
  return { logKey: parsed.key, vkey, size, root, note };
}

/** Whether a relay is a peer that was not removed. */
export async function isPeer(read: Reader, relayId: string | null): Promise<boolean> {
  if (relayId === null) return false;
  const peer = await findPeer(read, relayId);
  return peer !== undefined && peer.state !== "removed";
}
