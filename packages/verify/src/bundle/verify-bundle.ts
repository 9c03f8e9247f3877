import { hexToBytes, verifyJson } from "@agent/crypto";
import {
  type ParsedReceipt,
  parseReceipt,
  verifyAttestation,
  verifyNoShowRecord,
} from "@agent/receipts";
import { checkCredential } from "../artifacts/credential.ts";
import type { VerifyOptions } from "../artifacts/options.ts";
import { checkReceipt } from "../artifacts/receipt.ts";
import { isExpectedKey, parseDidKey } from "../expected-key.ts";
import { KEY_FAULT_LEVELS } from "../keys/named-keys.ts";
import { withRelayKeys } from "../list-relay-keys.ts";
import { mergeChecks } from "../assign-proof-levels.ts";
import type { ArtifactRefusal, BundleWarning } from "../refusals.ts";
import type { ProofLevelName } from "../proof-levels.ts";
import type { CheckResult, Verdict } from "../verdict.ts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { checkHops } from "./check-hops.ts";
import { checkLog } from "./check-log.ts";
import {
  areHistoriesValid,
  createAnyKeyLookup,
  createValidKeyLookup,
  type KeyLookup,
} from "./key-lookup.ts";
import { createTryLimit, type NarrowKeys, narrowLookup, narrowRelayKeys } from "./try-limit.ts";
import { findInspectionFault } from "./inspection/find-inspection-fault.ts";
import { parseBundle } from "./parse-bundle.ts";
import { findRelayKeyFault, getRelayKeys } from "./get-relay-keys.ts";
import { isRoutingConsistent } from "./is-routing-consistent.ts";
import { BUNDLE_LEVELS, type EvidenceBundle } from "./schema.ts";
import { findSettlementFault } from "./find-settlement-fault.ts";

/**
 * Verifies the evidence of a task, given as a value or as its text (docs/verifying.md): first the relay's
 * signature over the whole bundle, then each part by its own signature. A text that is not canonical JSON
 * is refused (`bundle.not_canonical`). Without `publicKey` any relay may have signed.
 */
export function verifyBundle(input: unknown, options: VerifyOptions = {}): Verdict {
  const read = parseBundle(input);
  if (!read.ok) return toVerdict([buildRefusal("well_formed", read.code)]);
  const parts: CheckPart[] = [];
  for (const part of checkParts(read.bundle, read.relayKey, withRelayKeys(options))) {
    parts.push(part);
    if (part.code !== undefined) break;
  }
  return toVerdict(parts);
}

/**
 * The result of one step: its checks, the verdict on an inner artifact, and the code of a refusal.
 */
interface CheckPart {
  readonly checks: readonly CheckResult[];
  readonly nested?: Verdict;
  readonly code?: ArtifactRefusal | undefined;
}

/** The steps in order; each relies on those before it. */
function* checkParts(
  bundle: EvidenceBundle,
  relayKey: string,
  { publicKey, taskId, log }: VerifyOptions,
): Iterable<CheckPart> {
  yield buildPass("well_formed");
  const isSigned = verifyJson(bundle, hexToBytes(relayKey), BUNDLE_LEVELS);
  yield isSigned ? buildPass("intact") : buildRefusal("intact", "bundle.signature_invalid");
  const relayKeys = getRelayKeys(bundle, relayKey);
  if (relayKeys === null) {
    yield buildRefusal("key_bound", "bundle.relay_succession_broken");
    return;
  }
  const keyFault = findRelayKeyFault(bundle, relayKeys, publicKey);
  if (keyFault !== undefined) yield buildRefusal(KEY_FAULT_LEVELS[keyFault], keyFault);
  if (!areHistoriesValid(bundle.signers))
    yield buildRefusal("key_bound", "bundle.key_history_broken");
  // The keys that count for a receipt are found by its members.
  const parsed = parseReceipt(bundle.receipt);
  if (!parsed.ok) return yield buildRefusal("well_formed", parsed.code);
  // A receipt whose texts were erased differs from the signed one, so its signature cannot be verified.
  if (bundle.erased === undefined) {
    yield checkReceiptPart(bundle, parsed);
    yield checkHopPart(bundle);
  }
  const { task, receipt, settlements, postings } = bundle;
  if (taskId !== undefined && taskId !== task.task_id) {
    yield buildRefusal("task_bound", "bundle.task_mismatch");
  }
  if (receipt.agent_id !== (task.assigned_to ?? task.agent_id)) {
    yield buildRefusal("task_bound", "bundle.wrong_executor");
  }
  if (receipt.status !== task.status) yield buildRefusal("task_bound", "bundle.status_mismatch");
  const narrow = createTryLimit();
  const noShowFault = findNoShowFault(bundle, relayKeys, narrow);
  if (noShowFault !== undefined) yield buildRefusal("task_bound", noShowFault);
  if (!isRoutingConsistent(bundle)) yield buildRefusal("hashes_match", "bundle.routing_mismatch");
  if (bundle.credential !== null) yield checkCredentialPart(bundle, bundle.credential, relayKeys);
  yield checkAttestedPart(bundle, relayKey);
  if (settlements.length > 0 || postings.length > 0) {
    const fault = findSettlementFault(bundle, relayKeys, narrow);
    yield fault === undefined ? buildPass("settled") : buildRefusal("settled", fault);
  }
  const inspectionFault = findInspectionFault(bundle, relayKeys, narrow);
  if (inspectionFault !== undefined) yield buildRefusal("settled", inspectionFault);
  for (const { check, code } of checkLog(bundle, log)) yield { checks: [check], code };
  if (bundle.erased !== undefined) yield buildRefusal("hashes_match", "bundle.erased");
}

/** Verifies the no-show records of earlier executors of the task, which must be of the same relay. */
function findNoShowFault(
  { no_shows = [], task }: EvidenceBundle,
  relayKeys: readonly string[],
  narrow: NarrowKeys,
): ArtifactRefusal | undefined {
  for (const record of no_shows) {
    const verdict = verifyNoShowRecord(record, {
      relayKeys: narrowRelayKeys(record, relayKeys, narrow),
    });
    if (!verdict.valid) return verdict.code;
    if (record.task_id !== task.task_id) return "bundle.no_show_mismatch";
  }
  return undefined;
}

/**
 * Verifies the receipt and its nested receipts, each by the keys of its agent that count for it.
 */
function checkReceiptPart(bundle: EvidenceBundle, parsed: ParsedReceipt): CheckPart {
  const { receipt, signers, task, attestation } = bundle;
  // A separate limit, so that an executor cannot invalidate evidence by the receipts that it nests.
  const narrow = createTryLimit();
  const checkWith = (listKeys: KeyLookup) => {
    const findKeys = narrowLookup(listKeys, narrow);
    return checkReceipt(parsed, {
      publicKey: findKeys(receipt),
      findKeys,
      taskId: task.task_id,
      prompt: task.prompt,
      now: attestation.received_at,
    });
  };
  const current = checkWith(createValidKeyLookup(bundle));
  if (current.valid)
    return { checks: [...current.checks, ...buildPass("key_valid").checks], nested: current };
  const historic = checkWith(createAnyKeyLookup(signers));
  if (!historic.valid) return { checks: current.checks, nested: current, code: current.code };
  const { checks, code } = buildRefusal("key_valid", "bundle.key_not_in_force");
  return { checks: [...historic.checks, ...checks], nested: historic, code };
}

/** Only a warning, because an executor's nested receipts do not undo its own work. */
function checkHopPart(bundle: EvidenceBundle): CheckPart {
  const isMatching = checkHops(bundle);
  if (isMatching === undefined) return { checks: [] };
  if (isMatching) return buildPass("hop_bound");
  const code: BundleWarning = "bundle.hop_mismatch";
  return { checks: [{ name: "hop_bound", ok: false, code }] };
}

/**
 * Verified at the start of its validity, because the credential expires within the hour but evidence does
 * not.
 */
function checkCredentialPart(
  { receipt, signers }: EvidenceBundle,
  credential: NonNullable<EvidenceBundle["credential"]>,
  relayKeys: readonly string[],
): CheckPart {
  const checked = checkCredential(credential, { now: parseStart(credential) });
  const subject = parseDidKey((credential.credentialSubject as { id?: unknown } | undefined)?.id);
  const isOfExecutor = subject !== null && createAnyKeyLookup(signers)(receipt).includes(subject);
  if (!checked.valid) return { ...buildRefusal("nested", checked.code), nested: checked };
  return isOfExecutor && isExpectedKey(parseDidKey(credential.issuer), relayKeys)
    ? { ...buildPass("nested"), nested: checked }
    : { ...buildRefusal("nested", "bundle.credential_foreign"), nested: checked };
}

/** The credential is only known to be an object; one without a start is malformed. */
function parseStart({ validFrom }: { readonly validFrom: unknown }): number {
  return typeof validFrom === "string" ? Date.parse(validFrom) : Number.NaN;
}

/**
 * Verifies the attestation of the signing relay and, for a task executed at another relay, that relay's as
 * well.
 */
function checkAttestedPart(bundle: EvidenceBundle, relayKey: string): CheckPart {
  const { relay_id, task, attestation, peer } = bundle;
  const expected = { taskId: task.task_id, receiptHash: getReceiptHash(bundle) };
  const relay = { relay_id, public_key: relayKey, attestation };
  for (const each of peer === undefined ? [relay] : [relay, peer]) {
    const signer = { publicKey: each.public_key, relayId: each.relay_id };
    const verdict = verifyAttestation(each.attestation, { ...signer, ...expected });
    if (!verdict.valid) return buildRefusal("attested", verdict.code);
  }
  return buildPass("attested");
}

function buildPass(name: ProofLevelName): CheckPart {
  return { checks: [{ name, ok: true }] };
}

function buildRefusal(name: ProofLevelName, code: ArtifactRefusal): CheckPart {
  return { checks: [{ name, ok: false, code }], code };
}

function toVerdict(parts: readonly CheckPart[]): Verdict {
  const checks = mergeChecks(parts.flatMap((part) => part.checks));
  const nested = parts.flatMap((part) => part.nested ?? []);
  const code = parts.at(-1)?.code;
  return code === undefined
    ? { kind: "bundle", valid: true, checks, nested }
    : { kind: "bundle", valid: false, code, checks, nested };
}
