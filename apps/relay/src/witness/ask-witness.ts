import { openCheckpoint, parseNote, proveConsistency, type VerifierKey } from "@agent/transparency";
import type { WitnessAddress } from "../config/config-values.ts";
import { readTile } from "../log/heads/read-tile.ts";
import { findNewestHead } from "../log/store.ts";
import type { Services } from "../services.ts";
import type { LogHeadRow } from "../storage/tables/log.ts";
import { fetchWitnessed, postCheckpoint, type WitnessReply } from "./call-witness.ts";
import { checkWitnessedHead } from "./check-witnessed-head.ts";

export type AskParts = Pick<Services, "storage" | "egress" | "relayLog" | "log">;

/** The end of a round with one witness. */
export type AskOutcome =
  /** It cosigned the newest head, or had done so. */
  | { readonly state: "cosigned"; readonly size: number }
  /** It has cosigned a head of this log that this database does not have. */
  | { readonly state: "ahead" }
  | { readonly state: "refused"; readonly status: number }
  | { readonly state: "unreachable" };

/**
 * Sends the newest head of the relay's log to a witness. `knownSize` is the size that the witness cosigned
 * last, undefined before the first contact. Returns undefined while there is no head.
 */
export async function askWitness(
  parts: AskParts,
  address: WitnessAddress,
  knownSize: number | undefined,
): Promise<AskOutcome | undefined> {
  const head = await findNewestHead(parts.storage.read);
  if (head === undefined) return undefined;
  const found = knownSize === undefined ? await findWitnessedSize(parts, address) : undefined;
  if (found !== undefined && "state" in found) return found;
  const oldSize = knownSize ?? found?.size ?? 0;
  if (oldSize === head.size) return { state: "cosigned", size: head.size };
  const reply = await postHead(parts, address, head, oldSize);
  const stated = readStatedSize(reply);
  if (stated === undefined) return conclude(parts, address, head, reply);
  if (stated > head.size) return findAhead(parts, address);
  // The witness knows better what it has cosigned; it is believed once.
  return conclude(parts, address, head, await postHead(parts, address, head, stated));
}

/**
 * Asks a witness for the head of this log that it has cosigned. If it shows a head that this log has signed
 * but that this database lacks, nothing else is signed.
 */
export async function findWitnessedSize(
  { storage, egress, relayLog }: AskParts,
  address: WitnessAddress,
): Promise<{ readonly size: number } | Extract<AskOutcome, { state: "ahead" | "unreachable" }>> {
  const { origin, logKey } = relayLog.keys();
  const reply = await fetchWitnessed(egress, address, origin);
  if (reply === undefined) return { state: "unreachable" };
  if (reply.status !== 200) return { size: 0 };
  const size = (await findNewestHead(storage.read))?.size ?? 0;
  const checked = await checkWitnessedHead(storage.read, reply.text, { logKey, size });
  if (checked === undefined) return { size: 0 };
  if (checked.fits) return { size: checked.size };
  const { name } = address.key;
  relayLog.holdSigning(
    `${name} has cosigned a head of size ${checked.size} that is not known here`,
  );
  return { state: "ahead" };
}

async function findAhead(parts: AskParts, address: WitnessAddress): Promise<AskOutcome> {
  const found = await findWitnessedSize(parts, address);
  return "state" in found ? found : { state: "refused", status: 409 };
}

async function postHead(
  { storage: { read }, egress }: AskParts,
  address: WitnessAddress,
  { size, note: checkpoint }: LogHeadRow,
  oldSize: number,
): Promise<WitnessReply> {
  const proof =
    oldSize === 0 || oldSize === size
      ? []
      : await proveConsistency(oldSize, size, (level, n, width) => readTile(read, level, n, width));
  return postCheckpoint(egress, address, { oldSize, proof, checkpoint });
}

function readStatedSize(reply: WitnessReply): number | undefined {
  if (reply?.status !== 409) return undefined;
  const [, digits] = /^(0|[1-9]\d{0,15})\n$/.exec(reply.text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

async function conclude(
  parts: AskParts,
  address: WitnessAddress,
  head: LogHeadRow,
  reply: WitnessReply,
): Promise<AskOutcome> {
  if (reply === undefined) return { state: "unreachable" };
  const { status, text } = reply;
  const { logKey } = parts.relayLog.keys();
  const lines = status === 200 ? listValidLines(head, text, { logKey, key: address.key }) : [];
  if (lines.length > 0) {
    await parts.relayLog.addCosignatures(head.size, lines);
    return { state: "cosigned", size: head.size };
  }
  if (status === 422) {
    const found = await findAhead(parts, address);
    if (found.state === "ahead") return found;
  }
  return { state: "refused", status };
}

/** Lists the lines of an answer that verify by the pinned key of the witness; others are dropped. */
function listValidLines(
  { note }: LogHeadRow,
  answer: string,
  { logKey, key }: { readonly logKey: VerifierKey; readonly key: VerifierKey },
): string[] {
  const stored = parseNote(note);
  if (!stored.ok) return [];
  const { text, signatures } = stored.note;
  const cosigned = `${text}\n${signatures[0]?.line ?? ""}${answer}`;
  if (!openCheckpoint(cosigned, { logKey, witnesses: [key], quorum: 1 }).ok) return [];
  const answered = parseNote(cosigned);
  if (!answered.ok) return [];
  return answered.note.signatures
    .filter(({ name, keyId }) => name === key.name && keyId === key.keyId)
    .map(({ line }) => line)
    .slice(-1);
}
