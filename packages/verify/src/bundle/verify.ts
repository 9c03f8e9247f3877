import { hexToBytes, verifyJson } from "@agent/crypto";
import { verifyAttestation, verifyNoShowRecord } from "@agent/receipts";
import { judgeCredential } from "../artifacts/credential.ts";
import type { VerifyOptions } from "../artifacts/options.ts";
import { judgeReceipt } from "../artifacts/receipt.ts";
import { isNamed, keyOfDid } from "../bound-key.ts";
import { mergeChecks } from "../place-checks.ts";
import type { ArtifactRefusal, BundleRemark } from "../refusals.ts";
import type { RungName } from "../rungs.ts";
import type { Check, Verdict } from "../verdict.ts";
import { hashOfReceipt } from "./hash-of-receipt.ts";
import { hopsFit } from "./hops.ts";
import { historiesHold, keysEver, keysInForce, type KeysOf } from "./keys.ts";
import { readBundle } from "./read.ts";
import { relayKeysOf } from "./relay-keys.ts";
import { routingHolds } from "./routing.ts";
import type { EvidenceBundle } from "./schema.ts";
import { faultOfMoney } from "./settled.ts";

/**
 * Judges a whole task's evidence, given as a value or as its text (docs/verifying.md): the relay's
 * signature over all of it, then every part by its own. A text that is not its own canonical JSON is
 * refused (`bundle.not_canonical`). Without `publicKey` any relay may have signed.
 */
export function verifyBundle(input: unknown, options: VerifyOptions = {}): Verdict {
  const read = readBundle(input);
  if (!read.ok) return verdictOf([refusal("well_formed", read.code)]);
  const parts: Part[] = [];
  for (const part of judgeParts(read.bundle, read.relayKey, options)) {
    parts.push(part);
    if (part.code !== undefined) break;
  }
  return verdictOf(parts);
}

/** What one step found: its rungs, the verdict on an artifact inside, and why it refuses. */
interface Part {
  readonly checks: readonly Check[];
  readonly nested?: Verdict;
  readonly code?: ArtifactRefusal | undefined;
}

/** The steps in the order in which they refuse; each relies on those before it. */
function* judgeParts(
  bundle: EvidenceBundle,
  relayKey: string,
  { publicKey, taskId }: VerifyOptions,
): Iterable<Part> {
  yield holds("well_formed");
  const isSigned = verifyJson(bundle, hexToBytes(relayKey));
  yield isSigned ? holds("intact") : refusal("intact", "bundle.signature_invalid");
  const relayKeys = relayKeysOf(bundle, relayKey);
  if (relayKeys === null) {
    yield refusal("key_bound", "bundle.relay_succession_broken");
    return;
  }
  if (publicKey !== undefined && !relayKeys.some((key) => isNamed(key, publicKey))) {
    yield refusal("key_bound", "artifact.key_unbound");
  }
  if (!historiesHold(bundle.signers)) yield refusal("key_bound", "bundle.key_history_broken");
  // Without its texts the receipt is not what was signed; what else can be judged still is.
  if (bundle.erased === undefined) {
    yield receiptPart(bundle);
    yield hopPart(bundle);
  }
  const { task, receipt, settlements, postings } = bundle;
  if (taskId !== undefined && taskId !== task.task_id) {
    yield refusal("task_bound", "bundle.task_mismatch");
  }
  if (receipt.agent_id !== (task.assigned_to ?? task.agent_id)) {
    yield refusal("task_bound", "bundle.wrong_executor");
  }
  if (receipt.status !== task.status) yield refusal("task_bound", "bundle.status_mismatch");
  const noShowFault = faultOfNoShows(bundle, relayKey);
  if (noShowFault !== undefined) yield refusal("task_bound", noShowFault);
  const isReplayed = routingHolds(bundle);
  if (isReplayed === false) yield refusal("hashes_match", "bundle.routing_mismatch");
  if (isReplayed === true) yield holds("hashes_match");
  if (bundle.credential !== null) yield credentialPart(bundle, bundle.credential, relayKeys);
  yield attestedPart(bundle, relayKey);
  if (settlements.length > 0 || postings.length > 0) {
    const fault = faultOfMoney(bundle, relayKeys);
    yield fault === undefined ? holds("settled") : refusal("settled", fault);
  }
  if (bundle.erased !== undefined) yield refusal("hashes_match", "bundle.erased");
}

/** What the same relay said of executors that had the task before. */
function faultOfNoShows(
  { no_shows = [], task }: EvidenceBundle,
  relayKey: string,
): ArtifactRefusal | undefined {
  for (const record of no_shows) {
    const verdict = verifyNoShowRecord(record, { publicKey: relayKey });
    if (!verdict.valid) return verdict.code;
    if (record.task_id !== task.task_id) return "bundle.no_show_mismatch";
  }
  return undefined;
}

/** The receipt and those nested in it, each by the keys of its agent that count for it. */
function receiptPart(bundle: EvidenceBundle): Part {
  const { receipt, signers, task, attestation } = bundle;
  const judgeBy = (keysOf: KeysOf) =>
    judgeReceipt(receipt, {
      publicKey: keysOf(receipt),
      keyOf: keysOf,
      taskId: task.task_id,
      prompt: task.prompt,
      now: attestation.received_at,
    });
  const judged = judgeBy(keysInForce(bundle));
  if (judged.valid)
    return { checks: [...judged.checks, ...holds("key_valid").checks], nested: judged };
  const ever = judgeBy(keysEver(signers));
  if (!ever.valid) return { checks: judged.checks, nested: judged, code: judged.code };
  const { checks, code } = refusal("key_valid", "bundle.key_not_in_force");
  return { checks: [...ever.checks, ...checks], nested: ever, code };
}

/** A remark: what an executor nests in its receipt does not undo its own work. */
function hopPart(bundle: EvidenceBundle): Part {
  const isFitting = hopsFit(bundle);
  if (isFitting === undefined) return { checks: [] };
  if (isFitting) return holds("hop_bound");
  const code: BundleRemark = "bundle.hop_mismatch";
  return { checks: [{ name: "hop_bound", ok: false, code }] };
}

/** Judged at the moment from which it holds: it ends within the hour, and the evidence stays. */
function credentialPart(
  { receipt, signers }: EvidenceBundle,
  credential: NonNullable<EvidenceBundle["credential"]>,
  relayKeys: readonly string[],
): Part {
  const judged = judgeCredential(credential, { now: Date.parse(credential.validFrom) });
  const subject = keyOfDid((credential.credentialSubject as { id?: unknown } | undefined)?.id);
  const isAbout = subject !== null && keysEver(signers)(receipt).includes(subject);
  if (!judged.valid) return { ...refusal("nested", judged.code), nested: judged };
  return isAbout && isNamed(keyOfDid(credential.issuer), relayKeys)
    ? { ...holds("nested"), nested: judged }
    : { ...refusal("nested", "bundle.credential_foreign"), nested: judged };
}

/** By the relay that vouches and, where the task was done at another one, by that one too. */
function attestedPart(bundle: EvidenceBundle, relayKey: string): Part {
  const { relay_id, task, attestation, peer } = bundle;
  const about = { taskId: task.task_id, receiptHash: hashOfReceipt(bundle) };
  const relay = { relay_id, public_key: relayKey, attestation };
  for (const each of peer === undefined ? [relay] : [relay, peer]) {
    const by = { publicKey: each.public_key, relayId: each.relay_id };
    const verdict = verifyAttestation(each.attestation, { ...by, ...about });
    if (!verdict.valid) return refusal("attested", verdict.code);
  }
  return holds("attested");
}

function holds(name: RungName): Part {
  return { checks: [{ name, ok: true }] };
}

function refusal(name: RungName, code: ArtifactRefusal): Part {
  return { checks: [{ name, ok: false, code }], code };
}

function verdictOf(parts: readonly Part[]): Verdict {
  const checks = mergeChecks(parts.flatMap((part) => part.checks));
  const nested = parts.flatMap((part) => part.nested ?? []);
  const code = parts.at(-1)?.code;
  return code === undefined
    ? { kind: "bundle", valid: true, checks, nested }
    : { kind: "bundle", valid: false, code, checks, nested };
}
