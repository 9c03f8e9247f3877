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
 * removed. The state of a removed peer stays, so that a new handshake cannot roll it back.
 */
export async function findKnownLog(
  read: Reader,
  { witness }: Pick<Config, "witness">,
  origin: string,
): Promise<KnownLog | undefined> {
  const row = await findWitnessed(read, origin);
  const named = witness.logs.find(({ name }) => name === origin);
  if (row === undefined) {
    if (named === undefined) return undefined;
    const vkey = formatVerifierKey(named);
    return { logKey: named, vkey, size: 0, root: getEmptyRoot(), note: "" };
  }
  const { vkey, relay_id, size, root, note } = row;
  const parsed = parseVerifierKey(vkey);
  const isNamed = named !== undefined && formatVerifierKey(named) === vkey;
  if (!parsed.ok || !(isNamed || (await isPeer(read, relay_id)))) return undefined;
  return { logKey: parsed.key, vkey, size, root, note };
}

/** Whether a relay is a peer that was not removed. */
export async function isPeer(read: Reader, relayId: string | null): Promise<boolean> {
  if (relayId === null) return false;
  const peer = await findPeer(read, relayId);
  return peer !== undefined && peer.state !== "removed";
}
