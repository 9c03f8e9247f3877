import { verifyAttestation, verifyNoShowRecord, verifySettlementRecord } from "@agent/receipts";
import { keyOfDid } from "../bound-key.ts";
import { conclude } from "../conclude.ts";
import type { Places } from "../place-checks.ts";
import { noShowList } from "../recognise.ts";
import { relayKeysFrom } from "../relay-keys-of.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const SETTLEMENT_PLACES: Places = {
  structure: "well_formed",
  suite: "well_formed",
  issuer: "well_formed",
  signature: "intact",
  settled: "settled",
};

/** The verdict on a settlement record, which is signed by the key that its issuer's did:key is. */
export function judgeSettlement(record: object, options: VerifyOptions): Verdict {
  const { publicKey } = options;
  const { issuer } = record as { issuer?: unknown };
  const key = keyOfDid(issuer);
  const relayKeys = relayKeysFrom(options);
  // A chain of another relay says nothing about this record.
  const isOfChain = key !== null && relayKeys.includes(key);
  const verdict = verifySettlementRecord(record, isOfChain ? { relayKeys } : {});
  const settled = verdict.valid ? [{ name: "settled", ok: true }] : [];
  const found = { ...verdict, checks: [...verdict.checks, ...settled] };
  return conclude("settlement", found, SETTLEMENT_PLACES, {
    key,
    named: publicKey,
  });
}

const NO_SHOW_PLACES: Places = {
  structure: "well_formed",
  suite: "well_formed",
  issuer: "well_formed",
  signature: "intact",
  task: "task_bound",
  records: "nested",
};

/**
 * The verdict on a no-show record, which is signed by the key that its issuer's did:key is, or on all
 * those of a task.
 */
export function judgeNoShow(value: object, options: VerifyOptions): Verdict {
  const list = noShowList(value);
  if (list === null) return judgeOneNoShow(value, options);
  const nested = list.map((record) => judgeOneNoShow(record as object, options));
  const refused = nested.find(({ valid }) => !valid)?.code;
  const found =
    refused === undefined
      ? ({ valid: true, checks: [{ name: "records", ok: true }] } as const)
      : ({
          valid: false,
          code: refused,
          checks: [{ name: "records", ok: false, code: refused }],
        } as const);
  return conclude("no_show", found, NO_SHOW_PLACES, undefined, nested);
}

function judgeOneNoShow(record: object, { publicKey, taskId }: VerifyOptions): Verdict {
  const { issuer, task_id } = record as { issuer?: unknown; task_id?: unknown };
  const signer = { key: keyOfDid(issuer), named: publicKey };
  const verdict = verifyNoShowRecord(record);
  if (!verdict.valid || taskId === undefined) {
    return conclude("no_show", verdict, NO_SHOW_PLACES, signer);
  }
  if (task_id === taskId) {
    const checks = [...verdict.checks, { name: "task", ok: true }];
    return conclude("no_show", { ...verdict, checks }, NO_SHOW_PLACES, signer);
  }
  const code = "bundle.task_mismatch";
  const checks = [...verdict.checks, { name: "task", ok: false, code }];
  return conclude("no_show", { valid: false, code, checks }, NO_SHOW_PLACES, signer);
}

const ATTESTATION_PLACES: Places = {
  structure: "well_formed",
  suite: "well_formed",
  relay: "well_formed",
  task: "task_bound",
  receipt: "hashes_match",
  key: "intact",
  signature: "intact",
  bound: "key_bound",
  attested: "attested",
};

/** The verdict on an attestation. It names no key, so it needs the caller's. */
export function judgeAttestation(
  value: object,
  { publicKey = [], taskId }: VerifyOptions,
): Verdict {
  const keys = typeof publicKey === "string" ? [publicKey] : publicKey;
  const verdicts = keys.map((key) => verifyAttestation(value, { publicKey: key, taskId }));
  const verdict =
    verdicts.find(({ valid }) => valid) ?? verdicts[0] ?? verifyAttestation(value, { taskId });
  // A task and a receipt that nobody asked about are not proven to be the right ones.
  const asked = verdict.checks.filter(
    ({ name }) => name !== "receipt" && (name !== "task" || taskId !== undefined),
  );
  const added = verdict.valid ? ["bound", "attested"].map((name) => ({ name, ok: true })) : [];
  return conclude("attestation", { ...verdict, checks: [...asked, ...added] }, ATTESTATION_PLACES);
}
