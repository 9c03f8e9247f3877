import {
  openCheckpoint,
  parseLogEntry,
  parseProofFile,
  verifyEntryInclusion,
} from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";
import { mergeChecks } from "../assign-proof-levels.ts";
import type { ArtifactKind } from "../kind.ts";
import type { ArtifactRefusal } from "../refusals.ts";
import type { CheckResult, Verdict } from "../verdict.ts";
import { checkWitnesses } from "./check-witnesses.ts";

type LogTextKind = Extract<ArtifactKind, "log_proof" | "checkpoint">;

/** Detects a proof file or a checkpoint by its first lines; null for any other text. */
export function detectLogText(text: string): LogTextKind | null {
  if (text.startsWith("c2sp.org/tlog-proof@")) return "log_proof";
  return /^[^\n]+\n\d+\n[^\n]+\n[^]*\n\u2014 /u.test(text) ? "checkpoint" : null;
}

/**
 * Verifies a proof file or a checkpoint with the log key that the verifier named. Without one it is refused
 * with `log.key_unknown`, because the text does not contain the key.
 */
export function checkLogText(kind: LogTextKind, text: string, options: LogOptions = {}): Verdict {
  return kind === "checkpoint" ? checkCheckpoint(text, options) : checkProofFile(text, options);
}

function checkCheckpoint(text: string, options: LogOptions): Verdict {
  const { checks, code } = checkHead(text, options);
  return toVerdict("checkpoint", checks, code);
}

function checkProofFile(text: string, options: LogOptions): Verdict {
  const file = parseProofFile(text);
  if (!file.ok) return refuse("log_proof", "well_formed", file.code);
  const entry = file.entry ?? new Uint8Array();
  const parsed = parseLogEntry(entry);
  if (!parsed.ok) return refuse("log_proof", "well_formed", parsed.code);
  const { checks, code, opened } = checkHead(file.checkpoint, options);
  if (opened === undefined) return toVerdict("log_proof", checks, code);
  const { index, proof } = file;
  const included = verifyEntryInclusion({ ...opened.head, entry, index, proof });
  if (!included.ok) return refuse("log_proof", "logged", included.code, checks);
  return toVerdict("log_proof", mergeChecks([...checks, { name: "logged", ok: true }]), code);
}

/** Checks the signature of the log and the cosignatures of the named witnesses. */
function checkHead(text: string, options: LogOptions) {
  const { logKey } = options;
  const formed: CheckResult = { name: "well_formed", ok: true };
  const opened = logKey === undefined ? undefined : openCheckpoint(text, { logKey });
  if (logKey === undefined || opened?.ok !== true) {
    const code = opened?.ok === false ? opened.code : "log.key_unknown";
    const name = code === "log.malformed" ? "well_formed" : getKeyLevel(code);
    return { checks: mergeChecks([formed, { name, ok: false, code }]), code };
  }
  const checks = [formed, { name: "intact", ok: true }, { name: "key_bound", ok: true }] as const;
  const witnessed = checkWitnesses(text, options);
  const all = mergeChecks([...checks, ...(witnessed === undefined ? [] : [witnessed.check])]);
  return { checks: all, code: witnessed?.code, opened };
}

const getKeyLevel = (code: string) =>
  code === "log.signature_invalid" ? ("intact" as const) : ("key_bound" as const);

function refuse(
  kind: LogTextKind,
  name: CheckResult["name"],
  code: ArtifactRefusal,
  before: readonly CheckResult[] = [],
): Verdict {
  return toVerdict(kind, mergeChecks([...before, { name, ok: false, code }]), code);
}

function toVerdict(
  kind: LogTextKind,
  checks: readonly CheckResult[],
  code: ArtifactRefusal | undefined,
): Verdict {
  return code === undefined
    ? { kind, valid: true, checks, nested: [] }
    : { kind, valid: false, code, checks, nested: [] };
}
