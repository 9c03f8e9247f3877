import { bytesToHex, toBase64 } from "@agent/crypto";
import { formatVerifierKey, hashTag, parseLogEntry, type LogEntry } from "@agent/transparency";
import {
  listKeyParts,
  listLoggableParts,
  type BundleLog,
  type LoggableEvidence,
  type LoggablePart,
  type Signer,
} from "@agent/verify";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findEntries, type FoundEntry } from "./entries/find-entries.ts";
import { proveEntry } from "./prove.ts";
import { findBestHead } from "./store.ts";

/** The longest time that a request for evidence waits until a head covers its entries. */
const MAX_WAIT_MS = 1_000;

/**
 * Proves under one head that the parts of a bundle are in the relay's log. Returns undefined if the log
 * contains none of the required parts, because it is off, began later, or did not sign a head in time.
 */
export async function buildBundleLog(
  services: Pick<Services, "storage" | "runtime" | "relayLog">,
  evidence: LoggableEvidence,
): Promise<BundleLog | undefined> {
  const { relayLog } = services;
  const { read } = services.storage;
  if (!relayLog.isOn) return undefined;
  await waitForHead(services);
  const found = await findParts(read, evidence);
  if (found === undefined) return undefined;
  const head = await findBestHead(read, Math.max(...found.map(({ index }) => index)) + 1);
  if (head === undefined) return undefined;
  const { origin, logKey } = relayLog.keys();
  const entries = await Promise.all(
    found.map(async (each) => ({
      index: each.index,
      entry: toBase64(each.entry),
      proof: (await proveEntry(read, each, head.size)).map(toBase64),
    })),
  );
  return { origin, vkey: formatVerifierKey(logKey), checkpoint: head.note, entries };
}

async function waitForHead({
  runtime,
  relayLog,
}: Pick<Services, "runtime" | "relayLog">): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = runtime.schedule(MAX_WAIT_MS, resolve);
  // The job of the log reports a failure; the bundle goes out without the log.
  const covered = relayLog.waitForHead().catch(() => {});
  await Promise.race([covered, promise]);
  cancel();
}

/** Finds the needed entries, nested receipts and no-shows, and the keys that signed the receipts. */
async function findParts(
  read: Reader,
  evidence: LoggableEvidence,
): Promise<FoundEntry[] | undefined> {
  // The relay verified each receipt before it logged it.
  const parts = listLoggableParts(evidence, () => true);
  const found = await Promise.all(parts.map((part) => findLogged(read, part)));
  if (!parts.some(({ isNeeded }, at) => isNeeded && found[at] !== undefined)) return undefined;
  const shown = found.filter((each) => each !== undefined);
  const keyTags = new Set(shown.map(parse).flatMap(toKeyTags));
  const keys = await Promise.all(
    listKeyParts(filterKeys(evidence.signers, keyTags)).map((part) => findLogged(read, part)),
  );
  const all = [...shown, ...keys.filter((each) => each !== undefined)];
  return [...new Map(all.map((each) => [each.index, each])).values()];
}

async function findLogged(
  read: Reader,
  { artifactHash, isHeldBy }: LoggablePart,
): Promise<FoundEntry | undefined> {
  return (await findEntries(read, artifactHash)).find(({ entry }) => isHeldBy(entry));
}

function parse({ entry }: FoundEntry): LogEntry {
  const parsed = parseLogEntry(entry);
  if (!parsed.ok) throw new Error("a stored entry of the log is malformed");
  return parsed.entry;
}

const toKeyTags = ({ kind, keyTag }: LogEntry) => (kind === "receipt" ? [keyTag] : []);

/** Keeps the keys with these tags. An agent may have a thousand, few of which have signed. */
function filterKeys(signers: readonly Signer[], tags: ReadonlySet<string>): Signer[] {
  const isTagged = ({ public_key }: { readonly public_key: string }) =>
    tags.has(bytesToHex(hashTag("key", public_key)));
  return signers.map((signer) => ({
    ...signer,
    keys: signer.keys.filter(isTagged),
    devices: signer.devices.filter(isTagged),
  }));
}
