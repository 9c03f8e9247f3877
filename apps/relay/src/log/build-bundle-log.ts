import { toBase64 } from "@agent/crypto";
import { isSameArtifact, formatVerifierKey, parseLogEntry } from "@agent/transparency";
import { listLoggableParts, type BundleLog, type LoggableEvidence } from "@agent/verify";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findEntries, getArtifactHash, type FoundEntry } from "./entries/find-entries.ts";
import { proveEntry } from "./prove.ts";
import { findBestHead } from "./store.ts";

/** The longest time that a request for evidence waits until a head covers its entries. */
const MAX_WAIT_MS = 1_000;

/**
 * Proves under one head that the parts of a bundle are in the relay's log. Returns undefined if the log
 * has none of those that it needs: it is off, began later, or did not sign a head in time.
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
  const parts = await Promise.all(
    listLoggableParts(evidence).map(async ({ isNeeded, entries }) => {
      const found = await Promise.all(entries.map((entry) => findLogged(read, entry)));
      return { isNeeded, found: found.filter((each) => each !== undefined) };
    }),
  );
  if (!parts.some(({ isNeeded, found }) => isNeeded && found.length > 0)) return undefined;
  const all = parts.flatMap(({ found }) => found);
  const signing = new Set(all.filter((each) => getKind(each) === "receipt").map(getKeyTag));
  const shown = all.filter((each) => getKind(each) !== "key_bound" || signing.has(getKeyTag(each)));
  return [...new Map(shown.map((each) => [each.index, each])).values()];
}

async function findLogged(read: Reader, entry: Uint8Array): Promise<FoundEntry | undefined> {
  const hash = getArtifactHash(entry);
  if (hash === undefined) return undefined;
  return (await findEntries(read, hash)).find((each) => isSameArtifact(each.entry, entry));
}

function parse({ entry }: FoundEntry) {
  const parsed = parseLogEntry(entry);
  if (!parsed.ok) throw new Error("a stored entry of the log is malformed");
  return parsed.entry;
}

const getKind = (found: FoundEntry) => parse(found).kind;
const getKeyTag = (found: FoundEntry) => parse(found).keyTag;
