import { fromBase64, unlessMalformed } from "@agent/crypto";
import {
  openCheckpoint,
  parseLogEntry,
  parseVerifierKey,
  type TreeHead,
  verifyEntryInclusion,
} from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";
import { checkWitnesses, type LogCheck, passLevel, refuseLevel } from "../log/check-witnesses.ts";
import type { LogRefusal } from "../refusals.ts";
import { listKeyParts, listLoggableParts, type LoggablePart } from "./list-log-entries.ts";
import type { BundleLog, EvidenceBundle } from "./schema.ts";

/**
 * Checks the proofs that the parts of a bundle are in the relay's transparency log. An invalid proof is a
 * refusal. A missing proof or entry is a refusal if the verifier named the log, otherwise a warning.
 * Without a named log key, the one that the relay states is used.
 */
export function* checkLog(bundle: EvidenceBundle, options: LogOptions = {}): Iterable<LogCheck> {
  const { log } = bundle;
  if (log === undefined) {
    if (options.logKey !== undefined) yield refuseLevel("logged", "log.entry_missing");
    const witnessed = checkWitnesses(undefined, options);
    if (witnessed !== undefined) yield witnessed;
    return;
  }
  const stated = parseVerifierKey(log.vkey);
  if (!stated.ok) return yield refuseLevel("logged", stated.code);
  const logKey = options.logKey ?? stated.key;
  const opened = openCheckpoint(log.checkpoint, { logKey });
  if (!opened.ok) return yield refuseLevel("logged", opened.code);
  if (log.origin !== logKey.name) return yield refuseLevel("logged", "log.wrong_origin");
  const parts = [...listLoggableParts(bundle), ...listKeyParts(bundle.signers)];
  const checked = checkEntries(log, opened.head, parts);
  if (!checked.ok) return yield refuseLevel("logged", checked.code);
  const isComplete = parts.every((part) => !part.isNeeded || checked.held.has(part));
  yield isComplete ? passLevel("logged") : refuseMissing(options);
  const witnessed = checkWitnesses(log.checkpoint, options);
  if (witnessed !== undefined) yield witnessed;
}

function refuseMissing({ logKey }: LogOptions): LogCheck {
  const { check, ...refusal } = refuseLevel("logged", "log.entry_missing");
  return logKey === undefined ? { check } : { check, ...refusal };
}

type CheckedEntries =
  | { readonly ok: true; readonly held: ReadonlySet<LoggablePart> }
  | { readonly ok: false; readonly code: LogRefusal };

/**
 * Returns the parts that the log contains, or the reason why an entry is refused: it is invalid, belongs to
 * no part or is not in the log.
 */
function checkEntries(
  { entries }: BundleLog,
  head: TreeHead,
  parts: readonly LoggablePart[],
): CheckedEntries {
  const byHash = new Map(parts.map((part) => [part.artifactHash, part]));
  const held = new Set<LoggablePart>();
  for (const { index, entry: text, proof: texts } of entries) {
    const entry = decode(text);
    const parsed = parseLogEntry(entry);
    if (!parsed.ok) return parsed;
    const part = byHash.get(parsed.entry.artifactHash);
    // One entry proves a part. Comparing further ones would verify the receipt's signature again for each.
    if (part === undefined || held.has(part) || !part.isHeldBy(entry)) {
      return { ok: false, code: "log.entry_mismatch" };
    }
    const included = verifyEntryInclusion({ ...head, index, entry, proof: texts.map(decode) });
    if (!included.ok) return included;
    held.add(part);
  }
  return { ok: true, held };
}

/** Malformed base64 becomes an empty array, which is neither an entry nor a hash. */
const decode = (text: string) => unlessMalformed(() => fromBase64(text)) ?? new Uint8Array();
