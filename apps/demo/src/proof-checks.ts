import { sha256Hex } from "@agent/crypto";
import {
  receiptHash,
  verifySettlementRecord,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import { all, type Check } from "./check.ts";
import type { Hired } from "./hire.ts";
import { refusedAt, type OfflineVerdicts } from "./offline.ts";
import { reportOf, stem, vocabularyOf, wordsOf } from "./terms.ts";

export interface Proof {
  readonly hired: Hired;
  readonly prompt: string;
  readonly verdicts: OfflineVerdicts;
  /** 64 hex digits. */
  readonly relayKey: string;
}

/** What has to be true of the receipts, the settlement records and the work itself. */
export function checkProof({ hired, prompt, verdicts, relayKey }: Proof): Check[] {
  const { outer, inner, receipt } = hired;
  const [nested] = receipt.delegation_receipts ?? [];
  const { asSigned, tampered } = verdicts;
  return [
    {
      claim: "The relay signed both settlements, each for the hash of its receipt",
      held: all([
        isRecordOf(outer.settlement, receipt, relayKey),
        isRecordOf(inner.settlement, nested, relayKey),
      ]),
    },
    {
      claim: "Both receipts verify offline, by the keys in the registry",
      held: asSigned.nested.length === 1 && all([asSigned, ...asSigned.nested].map(isFlawless)),
    },
    {
      claim: "One changed byte in the result is refused at the signature",
      held: !tampered.verdict.valid && refusedAt(tampered.verdict) === "signature",
    },
    {
      claim: "Doing the work again gives both results",
      held: nested !== undefined && isDoneRight(prompt, receipt, nested),
    },
  ];
}

function isRecordOf(
  record: Hired["outer"]["settlement"],
  receipt: ExecutionReceipt | undefined,
  relayKey: string,
): boolean {
  if (receipt === undefined || record.receipt_hash !== receiptHash(receipt)) return false;
  return verifySettlementRecord(record, { publicKey: relayKey }).valid;
}

/** A remark leaves a receipt valid, but here there is nothing to remark on. */
function isFlawless({ valid, checks }: ReceiptVerdict): boolean {
  return valid && checks.every(({ ok }) => ok);
}

/** Does what the agents did, in this process, and compares. */
function isDoneRight(prompt: string, outer: ExecutionReceipt, inner: ExecutionReceipt): boolean {
  const words = wordsOf(prompt);
  const vocabulary = vocabularyOf(words);
  const stems = vocabulary.map(stem);
  return (
    inner.prompt_hash === sha256Hex(vocabulary.join("\n")) &&
    inner.result === stems.join("\n") &&
    outer.result === JSON.stringify(reportOf(words, vocabulary, stems))
  );
}
