import {
  type NoShowRecord,
  type RelayAttestation,
  type SettlementRecord,
  verifyAttestation,
  verifyNoShowRecord,
  verifySettlementRecord,
} from "@agent/receipts";
import { parseDidKey } from "../expected-key.ts";
import { buildVerdict } from "../build-verdict.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import { getNoShowRecords } from "../detect-kind.ts";
import { listKeysFor } from "../keys/named-keys.ts";
import { listRelayKeys } from "../list-relay-keys.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const settlementLevels: CheckLevels = {
  structure: "well_formed",
  suite: "well_formed",
  issuer: "well_formed",
  signature: "intact",
  settled: "settled",
};

/** Verifies a settlement record, signed with the key in its issuer's did:key or a later key of that relay. */
export function checkSettlement(record: object, options: VerifyOptions): Verdict {
  const { publicKey } = options;
  const { issuer, settled_at: signedAt } = record as Partial<SettlementRecord>;
  const key = parseDidKey(issuer);
  const relayKeys = listRelayKeys(options).map((each) => each.publicKey);
  // A chain of another relay does not apply to this record.
  const isOfChain = key !== null && relayKeys.includes(key);
  const verdict = verifySettlementRecord(record, isOfChain ? { relayKeys } : {});
  const settled = verdict.valid ? [{ name: "settled", ok: true }] : [];
  const found = { ...verdict, checks: [...verdict.checks, ...settled] };
  return buildVerdict("settlement", found, settlementLevels, {
    key,
    namedKeys: publicKey,
    // The issuer is the relay's key at that time, whichever later key signs the record for a reader.
    signer: { role: "relay", signedAt },
  });
}

const noShowLevels: CheckLevels = {
  structure: "well_formed",
  suite: "well_formed",
  issuer: "well_formed",
  signature: "intact",
  task: "task_bound",
  records: "nested",
};

/** Verifies a no-show record, signed with the key in its issuer's did:key, or all records of a task. */
export function checkNoShow(value: object, options: VerifyOptions): Verdict {
  const list = getNoShowRecords(value);
  if (list === null) return checkNoShowRecord(value, options);
  const nested = list.map((record) => checkNoShowRecord(record as object, options));
  const refused = nested.find(({ valid }) => !valid)?.code;
  const found =
    refused === undefined
      ? ({ valid: true, checks: [{ name: "records", ok: true }] } as const)
      : ({
          valid: false,
          code: refused,
          checks: [{ name: "records", ok: false, code: refused }],
        } as const);
  return buildVerdict("no_show", found, noShowLevels, undefined, nested);
}

function checkNoShowRecord(record: object, { publicKey, taskId }: VerifyOptions): Verdict {
  const { issuer, task_id, lapsed_at: signedAt } = record as Partial<NoShowRecord>;
  const signer = {
    key: parseDidKey(issuer),
    namedKeys: publicKey,
    signer: { role: "relay", signedAt },
  } as const;
  const verdict = verifyNoShowRecord(record);
  if (!verdict.valid || taskId === undefined) {
    return buildVerdict("no_show", verdict, noShowLevels, signer);
  }
  if (task_id === taskId) {
    const checks = [...verdict.checks, { name: "task", ok: true }];
    return buildVerdict("no_show", { ...verdict, checks }, noShowLevels, signer);
  }
  const code = "bundle.task_mismatch";
  const checks = [...verdict.checks, { name: "task", ok: false, code }];
  return buildVerdict("no_show", { valid: false, code, checks }, noShowLevels, signer);
}

const attestationLevels: CheckLevels = {
  structure: "well_formed",
  suite: "well_formed",
  relay: "well_formed",
  task: "task_bound",
  receipt: "hashes_match",
  key: "intact",
  signature: "intact",
  attested: "attested",
};

/** Verifies an attestation. It contains no key, so it needs the caller's for its relay. */
export function checkAttestation(value: object, options: VerifyOptions): Verdict {
  const { publicKey: namedKeys, taskId } = options;
  const { relay_id: id, attested_at: signedAt } = value as Partial<RelayAttestation>;
  const signer = { role: "relay", id, signedAt } as const;
  const verdicts = listKeysFor(namedKeys ?? [], signer).map((key) => ({
    key,
    verdict: verifyAttestation(value, { publicKey: key, taskId }),
  }));
  const { key, verdict } = verdicts.find((each) => each.verdict.valid) ??
    verdicts[0] ?? { key: null, verdict: verifyAttestation(value, { taskId }) };
  // Without an expected task or receipt, these checks prove nothing and are left out.
  const applicable = verdict.checks.filter(
    ({ name }) => name !== "receipt" && (name !== "task" || taskId !== undefined),
  );
  const attested = verdict.valid ? [{ name: "attested", ok: true }] : [];
  return buildVerdict(
    "attestation",
    { ...verdict, checks: [...applicable, ...attested] },
    attestationLevels,
    { key, namedKeys, signer },
  );
}
