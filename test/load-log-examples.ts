import { readFileSync } from "node:fs";
import { generateKeyPair, signRelaySuccession, toBase64 } from "@agent/crypto";
import { ModelLog } from "@agent/transparency/model-log";
import { entryOf, formatProofFile, formatVerifierKey } from "@agent/transparency";
import {
  type BundleSigner,
  type Evidence,
  formatBundle,
  listLoggableParts,
  type LogOptionTexts,
  signBundle,
} from "@agent/verify";
import { loadReadableEvidence } from "./load-bundle-examples.ts";

/** A file that must be in a log or needs another file, and the contents of the fields for keys. */
export interface LogExample {
  readonly title: string;
  readonly text: string;
  readonly keys: readonly string[];
  readonly log: LogOptionTexts;
  /** The proof file that the reader adds. */
  readonly proof?: string;
  /** The relay's identity document that the reader adds. */
  readonly identity?: { readonly succession: readonly unknown[] };
}

/** The title of the example with readable texts, which was cosigned by both of two witnesses. */
export const WITNESSED_TITLE = "evidence that two witnesses cosigned";

interface VectorKey {
  readonly vkey: string;
}
interface VectorCase {
  readonly quorum?: number;
  readonly why: string;
}
interface Vectors {
  readonly keys: { readonly log: VectorKey; readonly witnesses: readonly VectorKey[] };
  readonly proof_files: readonly (VectorCase & { readonly proof: string })[];
  /** One checkpoint has bytes instead of a text, which neither the command nor the page can read. */
  readonly checkpoints: readonly (VectorCase & { readonly note?: string })[];
}

/** Loads the proof files and checkpoints of the vectors, with the keys for their verification. */
export function loadLogVectors(): LogExample[] {
  const file = new URL("../vectors/own/transparency.json", import.meta.url);
  const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;
  const { log, witnesses } = vectors.keys;
  const named = ({ quorum }: VectorCase): LogOptionTexts => ({
    log: log.vkey,
    witness: witnesses.map(({ vkey }) => vkey),
    ...(quorum !== undefined && quorum > 0 && { quorum: String(quorum) }),
  });
  return [
    ...vectors.proof_files.map((each) => ({ text: each.proof, each })),
    ...vectors.checkpoints.map((each) => ({ text: each.note, each })),
  ].flatMap(({ text, each }) =>
    text === undefined ? [] : [{ title: each.why, text, keys: [], log: named(each) }],
  );
}

/** Lists the entries that a log must contain for evidence, whichever of its agent's keys they name. */
function listNeededEntries(evidence: Evidence): Uint8Array[] {
  const { receipt, task, settlements, signers, credential } = evidence;
  const own = signers.filter(({ agent_id }) => agent_id === receipt.agent_id);
  const possible = own
    .flatMap(({ keys, devices }) => [...keys, ...devices])
    .flatMap(({ public_key: publicKey }) => {
      const signed = { time: 0, agentId: receipt.agent_id, publicKey };
      return [
        entryOf.receipt(receipt, { ...signed, ref: task.task_id }),
        ...(credential === null ? [] : [entryOf.credential(credential, signed)]),
      ];
    });
  const parts = listLoggableParts(evidence).filter(({ isNeeded }) => isNeeded);
  const settled = settlements.map((record) => entryOf.settlement(record, { time: 0 }));
  return parts.map(({ isHeldBy }) => {
    const entry = [...possible, ...settled].find(isHeldBy);
    if (entry === undefined) throw new Error("an entry of the evidence is missing");
    return entry;
  });
}

/** Creates evidence and records in a log of 40 entries, some valid and some not, and one for a changed key. */
export async function loadLogExamples(): Promise<LogExample[]> {
  const { evidence, relay } = await loadReadableEvidence();
  const log = new ModelLog(1);
  const witnesses = [2, 3, 4].map(
    (seed) => new ModelLog(seed, { origin: `w${seed}.example` }).keys,
  );
  const [logKey, ...witnessKeys] = [
    log.keys.logKey,
    ...witnesses.map(({ witnessKey }) => witnessKey),
  ].map(formatVerifierKey) as [string, ...string[]];
  const needed = listNeededEntries(evidence);
  const indexes = needed.map((entry) => log.append(entry));
  for (let size = needed.length; size < 40; size += 1) log.append(new Uint8Array(90).fill(1));
  const checkpoint = log.sign(witnesses.slice(0, 2).map(({ witness }) => witness));
  const entries = await Promise.all(
    needed.map(async (entry, place) => {
      const index = indexes[place] ?? 0;
      const proof = (await log.prove(index)).map(toBase64);
      return { index, entry: toBase64(entry), proof };
    }),
  );
  const proven = { origin: log.keys.origin, vkey: logKey, checkpoint, entries };
  const logged = { ...evidence, log: proven };
  const keys = [relay.publicKey];
  const example = (title: string, changes: object, options: LogOptionTexts): LogExample => ({
    title,
    text: formatBundle(signBundle({ ...logged, ...changes } as Evidence, relay)),
    keys,
    log: options,
  });
  const all = { log: logKey, witness: witnessKeys };
  const [first, ...rest] = entries;
  return [
    example(WITNESSED_TITLE, {}, { ...all, quorum: "2" }),
    example("three witnesses where two cosigned", {}, { ...all, quorum: "3" }),
    example("the key that the relay states", {}, {}),
    example("another log's key", {}, { log: formatVerifierKey(witnesses[0]!.logKey) }),
    example("evidence without a log", { log: undefined }, { log: logKey }),
    example("a part without an entry", { log: { ...proven, entries: rest } }, { log: logKey }),
    example(
      "an entry at another place",
      { log: { ...proven, entries: [{ ...first, index: 7 }, ...rest] } },
      { log: logKey },
    ),
    ...(await createRecords(evidence, { relay, log, logKey, checkpoint, needed, indexes })),
  ];
}

/** Creates a settlement record with its proof file, without it, and after its relay changed its key. */
async function createRecords(
  { settlements }: Evidence,
  world: {
    readonly relay: BundleSigner;
    readonly log: ModelLog;
    readonly logKey: string;
    readonly checkpoint: string;
    readonly needed: readonly Uint8Array[];
    readonly indexes: readonly number[];
  },
): Promise<LogExample[]> {
  const { relay, log, logKey, checkpoint, needed, indexes } = world;
  const text = JSON.stringify(settlements[0]);
  // The entry of the receipt comes first, then that of the settlement.
  const [receiptProof, proof] = await Promise.all(
    [0, 1].map(async (place) => {
      const [entry, index] = [needed[place] ?? new Uint8Array(), indexes[place] ?? 0];
      return formatProofFile({ entry, index, proof: await log.prove(index), checkpoint });
    }),
  );
  const next = generateKeyPair(new Uint8Array(32).fill(9));
  const step = signRelaySuccession({
    relay_id: relay.relayId,
    oldSecretKey: relay.secretKey,
    newSecretKey: next.secretKey,
    timestamp: relay.now,
  });
  const [keys, newKeys] = [[relay.publicKey], [step.new_public_key]];
  const identity = { relay_id: relay.relayId, succession: [step] };
  return [
    { title: "a record with its proof", text, keys, log: { log: logKey }, proof: proof ?? "" },
    { title: "a record without a proof", text, keys, log: { log: logKey } },
    { title: "another proof", text, keys, log: { log: logKey }, proof: receiptProof ?? "" },
    { title: "a record under a newer key", text, keys: newKeys, log: {}, identity },
    { title: "a record under a strange key", text, keys: ["0".repeat(64)], log: {}, identity },
    { title: "the steps of a key", text: JSON.stringify([step]), keys, log: {} },
  ];
}
