import { formatVerifierKey, type Note } from "@agent/transparency";
import type { HeadFile } from "../log/heads/head-file.ts";
import { loadHeadOrHold } from "../log/heads/load-head-or-hold.ts";
import type { RelayLog } from "../log/heads/relay-log.ts";
import type { Reader } from "../storage/storage.ts";
import { findWitnessed } from "./store.ts";

/**
 * Cosigns nothing if this database does not have the head that was cosigned last, because it is an older copy
 * then, nor if that head cannot be read. The head of the relay's own log does not show it: that log may be off,
 * or may not have grown since the copy was made.
 */
export async function checkCosignedHead(
  relayLog: Pick<RelayLog, "keys" | "holdSigning">,
  read: Reader,
  cosigned: HeadFile,
): Promise<void> {
  const last = await loadHeadOrHold(relayLog, cosigned, "cosigned");
  // A witness of another generation has another key, so readers do not rely on what it remembers.
  if (last === undefined || !isSignedBy(last.note, formatVerifierKey(relayLog.keys().witnessKey))) {
    return;
  }
  const { origin, size } = last.head;
  const known = await findWitnessed(read, origin);
  // The operator may have named another key for this origin, which is another log.
  if (known !== undefined && (known.size >= size || !isSignedBy(last.note, known.vkey))) return;
  relayLog.holdSigning(
    `a head of size ${size} of log ${origin} was cosigned, and this database has ${known?.size ?? 0}`,
  );
}

const isSignedBy = ({ signatures }: Note, vkey: string): boolean =>
  signatures.some(({ name, keyId }) => vkey.startsWith(`${name}+${keyId}+`));
