import { openCheckpoint, parseProofFile, parseVerifierKey } from "@agent/transparency";
import type { VerifyOptions } from "../artifacts/options.ts";
import type { EvidenceBundle } from "../bundle/schema.ts";
import type { Verdict } from "../verdict.ts";

/** The position of an artifact in a transparency log, as shown by a verified proof. */
export interface LogPlace {
  /** The name of the log. */
  readonly origin: string;
  /** The number of entries that the proven head covers. */
  readonly size: number;
  /** The root hash of the log's tree, 32 bytes. */
  readonly root: Uint8Array;
  /** Counted from 0; for a bundle the indexes of all its parts. */
  readonly indexes: readonly number[];
  /** Whether the verifier named the key of the log; otherwise only the relay vouches for it. */
  readonly isNamed: boolean;
  /** The names of the witnesses that the verifier named and that cosigned the head. */
  readonly witnesses: readonly string[];
}

/**
 * Returns where the log holds an artifact whose level `logged` holds; null for any other verdict.
 *
 * @param artifact the parsed artifact that the verdict is about; of a proof file its text
 * @param proofFile the proof file that the artifact was verified with, if it is none itself
 */
export function findLogPlace(
  { kind, checks }: Verdict,
  artifact: unknown,
  { log = {} }: Pick<VerifyOptions, "log">,
  proofFile?: string,
): LogPlace | null {
  if (!checks.some(({ name, ok }) => name === "logged" && ok)) return null;
  const { logKey, witnesses = [] } = log;
  const shown =
    kind === "bundle"
      ? readBundle(artifact as EvidenceBundle)
      : readProofFile(kind === "log_proof" ? String(artifact) : (proofFile ?? ""));
  const key = logKey ?? shown?.statedKey;
  if (shown === undefined || key === undefined) return null;
  const opened = openCheckpoint(shown.checkpoint, { logKey: key, witnesses });
  if (!opened.ok) return null;
  const { origin, size, root } = opened.head;
  const names = opened.cosignatures.map(({ witness }) => witness.name);
  const isNamed = logKey !== undefined;
  return { origin, size, root, indexes: shown.indexes, isNamed, witnesses: names };
}

function readBundle({ log }: EvidenceBundle) {
  if (log === undefined) return undefined;
  const stated = parseVerifierKey(log.vkey);
  const indexes = log.entries.map(({ index }) => index);
  return { checkpoint: log.checkpoint, indexes, statedKey: stated.ok ? stated.key : undefined };
}

function readProofFile(text: string) {
  const file = parseProofFile(text);
  return file.ok
    ? { checkpoint: file.checkpoint, indexes: [file.index], statedKey: undefined }
    : undefined;
}
