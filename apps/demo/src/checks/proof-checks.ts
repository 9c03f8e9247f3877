import { sha256Hex } from "@agent/crypto";
import {
  hashReceipt,
  verifySettlementRecord,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import { allHold, type DemoCheck } from "./demo-check.ts";
import type { PaidDelegation } from "../participants/delegate-report.ts";
import { findFailedCheck, type OfflineVerdicts } from "./verify-offline.ts";
import { buildTermReport, stemWord, buildVocabulary, extractWords } from "../figures/terms.ts";

export interface ProofInput {
  readonly delegation: PaidDelegation;
  readonly prompt: string;
  readonly verdicts: OfflineVerdicts;
  /** 64 hex digits. */
  readonly relayKey: string;
}

/** Checks the receipts, the settlement records and the work itself. */
export function checkProof({ delegation, prompt, verdicts, relayKey }: ProofInput): DemoCheck[] {
  const { outer, inner, receipt } = delegation;
  const [nested] = receipt.delegation_receipts ?? [];
  const { asSigned, tampered } = verdicts;
  return [
    {
      claim: "The relay signed both settlements, each for the hash of its receipt",
      passed: allHold([
        isSettlementOf(outer.settlement, receipt, relayKey),
        isSettlementOf(inner.settlement, nested, relayKey),
      ]),
    },
    {
      claim: "Both receipts verify offline, by the keys in the registry",
      passed:
        asSigned.nested.length === 1 &&
        allHold([asSigned, ...asSigned.nested].map(isWithoutWarning)),
    },
    {
      claim: "One changed byte in the result is refused at the signature",
      passed: !tampered.verdict.valid && findFailedCheck(tampered.verdict) === "signature",
    },
    {
      claim: "Repeating the work gives both results",
      passed: nested !== undefined && isResultCorrect(prompt, receipt, nested),
    },
  ];
}

function isSettlementOf(
  record: PaidDelegation["outer"]["settlement"],
  receipt: ExecutionReceipt | undefined,
  relayKey: string,
): boolean {
  if (receipt === undefined || record.receipt_hash !== hashReceipt(receipt)) return false;
  return verifySettlementRecord(record, { publicKey: relayKey }).valid;
}

/** Returns whether a receipt is valid without warnings, because the demo must not cause any. */
function isWithoutWarning({ valid, checks }: ReceiptVerdict): boolean {
  return valid && checks.every(({ ok }) => ok);
}

/** Repeats the agents' work in this process and compares the results. */
function isResultCorrect(
  prompt: string,
  outer: ExecutionReceipt,
  inner: ExecutionReceipt,
): boolean {
  const words = extractWords(prompt);
  const vocabulary = buildVocabulary(words);
  const stems = vocabulary.map(stemWord);
  return (
    inner.prompt_hash === sha256Hex(vocabulary.join("\n")) &&
    inner.result === stems.join("\n") &&
    outer.result === JSON.stringify(buildTermReport(words, vocabulary, stems))
  );
}
