import { equalBytes, sha256Hex } from "@agent/crypto";
import {
  type CheckpointRefusal,
  compareHeads,
  type Cosignature,
  openCheckpoint,
  type TreeHead,
  type TrustedKeys,
  type VerifierKey,
} from "@agent/transparency";
import type { Environment } from "../environment.ts";
import { BadTileError, createLogReader, type LogReader, UnreachableError } from "./log-reader.ts";

/** A head that the log signed, with the checkpoint that it was opened from. */
export interface SeenHead {
  readonly head: TreeHead;
  readonly text: string;
  readonly cosignatures: readonly Cosignature[];
}

/** A trusted witness, with the URL prefix at which it publishes what it cosigned. */
export interface ShownWitness {
  readonly key: VerifierKey;
  readonly prefix: string;
}

/** A checkpoint as it was read. Even a refused one may be signed by the log. */
export type HeadReading =
  | { readonly ok: true; readonly seen: SeenHead }
  | {
      readonly ok: false;
      readonly code: CheckpointRefusal | "log.no_checkpoint" | "monitor.bad_tile";
      readonly seen?: SeenHead;
    }
  | {
      readonly ok: false;
      readonly code: "network.unreachable";
      /** A description of the failed answer. */
      readonly detail: string;
      readonly seen?: undefined;
    };

/** The heads that a log and its witnesses published in one round. */
export interface HeadReadings {
  readonly published: HeadReading;
  readonly latest: HeadReading;
  readonly witnessed: readonly HeadReading[];
}

/** A log could sign any number of heads and then stop answering. */
const MAX_UNPROVEN = 64;

/**
 * Returns two heads of equal size with different roots: the log signed both, so the checkpoints prove a
 * fork.
 */
export function findFork(heads: readonly SeenHead[]): readonly [SeenHead, SeenHead] | null {
  const bySize = new Map<number, SeenHead>();
  for (const seen of heads) {
    const other = bySize.get(seen.head.size);
    if (other !== undefined && !compareHeads(other.head, seen.head).ok) return [other, seen];
    bySize.set(seen.head.size, seen);
  }
  return null;
}

/**
 * Lists the heads that are not yet proven to be of one tree with the proven one, without duplicates. The
 * first 64 are kept, because a dropped head is lost evidence.
 */
export function listUnproven(
  heads: readonly SeenHead[],
  proven: SeenHead | null,
): readonly SeenHead[] {
  const unproven: SeenHead[] = [];
  for (const seen of heads) {
    const isKept = [proven, ...unproven].some((kept) => kept !== null && isSameHead(kept, seen));
    if (!isKept && unproven.length < MAX_UNPROVEN) unproven.push(seen);
  }
  return unproven;
}

/** Lists the heads that the log signed, including those of refused checkpoints. */
export function listSigned({ published, latest, witnessed }: HeadReadings): readonly SeenHead[] {
  return [published, latest, ...witnessed].flatMap(({ seen }) => seen ?? []);
}

export const isSameHead = (left: SeenHead, right: SeenHead): boolean =>
  left.head.size === right.head.size && equalBytes(left.head.root, right.head.root);

/** Reads the heads that the log and its witnesses publish; none of them can hide another. */
export async function readHeads(
  log: LogReader,
  trust: {
    readonly logKey: VerifierKey;
    readonly witnesses: readonly ShownWitness[];
    readonly quorum: number;
  },
  network: Pick<Environment, "fetch">,
): Promise<HeadReadings> {
  const { logKey, witnesses, quorum } = trust;
  const path = `${sha256Hex(logKey.name)}/checkpoint`;
  const keys = witnesses.map(({ key }) => key);
  const [published, latest, ...witnessed] = await Promise.all([
    readHead(log, "checkpoint", { logKey, witnesses: keys, quorum }),
    readHead(log, "latest", { logKey }),
    // The log's signature makes a head evidence, whatever the witness added to it.
    ...witnesses.map(({ prefix }) => readHead(createLogReader(prefix, network), path, { logKey })),
  ]);
  return { published, latest, witnessed };
}

async function readHead(reader: LogReader, path: string, trust: TrustedKeys): Promise<HeadReading> {
  try {
    const bytes = await reader.readNote(path);
    if (bytes === null) return { ok: false, code: "log.no_checkpoint" };
    const text = new TextDecoder().decode(bytes);
    const opened = openCheckpoint(bytes, trust);
    if (opened.ok) return { ok: true, seen: { ...opened, text } };
    const signed = openCheckpoint(bytes, { logKey: trust.logKey });
    return { ...opened, ...(signed.ok && { seen: { ...signed, text } }) };
  } catch (error) {
    if (error instanceof UnreachableError) {
      return { ok: false, code: "network.unreachable", detail: error.message };
    }
    if (error instanceof BadTileError) return { ok: false, code: "monitor.bad_tile" };
    throw error;
  }
}

/** Opens a checkpoint that an earlier round stored. */
export function openStoredHead(text: string, logKey: VerifierKey): SeenHead {
  const opened = openCheckpoint(text, { logKey });
  if (!opened.ok) throw new Error(`the stored checkpoint is invalid: ${opened.code}`);
  return { ...opened, text };
}
