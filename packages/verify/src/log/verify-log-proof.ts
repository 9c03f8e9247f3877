import { bytesToHex, canonicalize, sha256Hex, unlessMalformed } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import {
  ENTRY_KINDS,
  type EntryKind,
  hashTag,
  type LogEntry,
  parseLogEntry,
  parseProofFile,
} from "@agent/transparency";
import type { VerifyOptions } from "../artifacts/options.ts";
import { mergeChecks } from "../assign-proof-levels.ts";
import { parseDidKey } from "../expected-key.ts";
import { findReceiptKey } from "../keys/find-receipt-key.ts";
import type { ArtifactRefusal } from "../refusals.ts";
import type { Verdict } from "../verdict.ts";
import { checkLogText } from "./check-log-text.ts";
import { checkWitnesses } from "./check-witnesses.ts";

/** The tags and the hash that the log entry of an artifact must have; undefined accepts any tag. */
interface EntryFacts {
  readonly kind: EntryKind;
  readonly agentId?: string | null | undefined;
  readonly publicKey?: string | null | undefined;
  readonly ref?: string | null | undefined;
  readonly artifactHash: string;
}

/**
 * Returns the verdict on an artifact together with its proof file: the entry must be that of the
 * artifact, else it is `log.entry_mismatch` whatever more is wrong, and the log must hold it. Without a proof
 * file it is refused with
 * `log.entry_missing` if the verifier named a log, and with `log.quorum_missing` if it named witnesses.
 * Bundles contain their proofs, so they are returned as they are.
 *
 * @param artifact the parsed artifact that the verdict is about
 */
export function verifyLogProof(
  verdict: Verdict,
  artifact: unknown,
  proofFile: string | undefined,
  options: VerifyOptions = {},
): Verdict {
  const hasOwnProof = ["bundle", "log_proof", "checkpoint", null].includes(verdict.kind);
  if (!verdict.valid || (hasOwnProof && proofFile === undefined)) return verdict;
  const { log = {} } = options;
  if (proofFile === undefined) {
    if (log.logKey !== undefined) return refuse(verdict, "logged", "log.entry_missing");
    const code = checkWitnesses(undefined, log)?.code;
    return code === undefined ? verdict : refuse(verdict, "witnessed", code);
  }
  const entry = readEntry(proofFile);
  if (entry !== undefined && !isEntryOfArtifact(verdict, artifact, entry, options)) {
    return refuse(verdict, "logged", "log.entry_mismatch");
  }
  const proof = checkLogText("log_proof", proofFile, log);
  // The proof file is not part of the artifact, so everything that it lacks is reported at this level.
  if (!proof.valid) {
    const isOfWitness = proof.checks.some(({ name, ok }) => name === "witnessed" && !ok);
    return refuse(verdict, isOfWitness ? "witnessed" : "logged", proof.code);
  }
  const added = proof.checks.filter(({ name }) => name === "logged" || name === "witnessed");
  return { ...verdict, checks: mergeChecks([...verdict.checks, ...added]) };
}

function refuse(
  { kind, checks, nested }: Verdict,
  name: "logged" | "witnessed",
  code: ArtifactRefusal,
): Verdict {
  const all = mergeChecks([...checks, { name, ok: false, code }]);
  return { kind, nested, valid: false, code, checks: all };
}

/** Returns the entry of a proof file; undefined for a file that contains none. */
function readEntry(proofFile: string): LogEntry | undefined {
  const file = parseProofFile(proofFile);
  const parsed = file.ok && file.entry !== null ? parseLogEntry(file.entry) : undefined;
  return parsed?.ok === true ? parsed.entry : undefined;
}

function isEntryOfArtifact(
  { kind }: Verdict,
  artifact: unknown,
  entry: LogEntry,
  options: VerifyOptions,
): boolean {
  const facts = unlessMalformed(() => getEntryFacts(kind, artifact, options));
  return facts !== undefined && hasFacts(entry, facts);
}

function hasFacts(entry: LogEntry, facts: EntryFacts): boolean {
  return (
    entry.kindNumber === ENTRY_KINDS[facts.kind] &&
    entry.artifactHash === facts.artifactHash &&
    isTagOf(entry.agentTag, "agent", facts.agentId) &&
    isTagOf(entry.keyTag, "key", facts.publicKey) &&
    isTagOf(entry.refTag, "ref", facts.ref)
  );
}

function isTagOf(
  tag: string,
  type: "agent" | "key" | "ref",
  value: string | null | undefined,
): boolean {
  if (value === undefined) return true;
  return tag === (value === null ? NO_TAG : bytesToHex(hashTag(type, value)));
}

const NO_TAG = "0".repeat(32);

/** Returns the facts that a valid artifact states; undefined for a kind that a log never contains. */
function getEntryFacts(
  kind: Verdict["kind"],
  artifact: unknown,
  options: VerifyOptions,
): EntryFacts | undefined {
  const members = artifact as Members;
  const { signature: _, ...body } = members;
  const hashArtifact = (value: object) => sha256Hex(canonicalize(value));
  const whole = { artifactHash: hashArtifact(members) };
  const unsigned = { artifactHash: hashArtifact(body), publicKey: null, ref: members["task_id"] };
  if (kind === "settlement") return { ...unsigned, kind, agentId: members["payee_id"] };
  if (kind === "no_show") return { ...unsigned, kind, agentId: members["agent_id"] };
  if (kind === "receipt") {
    // The relay that logged the receipt may have another id for its task.
    const publicKey = findReceiptKey(artifact as ExecutionReceipt, options.publicKey);
    return { ...whole, kind, agentId: members["agent_id"], publicKey };
  }
  if (kind === "credential") {
    const subject = members["credentialSubject"] as { readonly id?: unknown } | undefined;
    return { ...whole, kind, publicKey: parseDidKey(subject?.id), ref: members["id"] ?? null };
  }
  if (kind === "relay_succession") {
    const [agentId, publicKey] = [members["relay_id"], members["new_public_key"]];
    return { ...whole, kind: "relay_key", agentId, publicKey, ref: null };
  }
  return undefined;
}

type Members = Readonly<Record<string, string | undefined>>;
