import { bytesToHex, signJson, SUITE, verifyJson, type Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, money, text, whole } from "./fields.ts";
import { issuer, keyOfIssuer } from "./issuer.ts";
import { judgeInOrder } from "./judge-in-order.ts";

/** How a relay settled one task (specification, Settlement record), signed like a receipt. */
export const SettlementRecordSchema = v.object(
  {
    settlement_id: text,
    allocation_id: text,
    task_id: text,
    payer_id: text,
    payee_id: text,
    receipt_hash: hex32,
    ledger_hash: v.nullable(hex32),
    amount_settled: money,
    fee: money,
    net: money,
    status: v.picklist(
      ["completed", "partial", "refunded"],
      "must be one of: completed, partial, refunded",
    ),
    settled_at: whole,
    // The relay that settled, and so the key that signed.
    issuer,
    x402_tx_hash: v.optional(text),
    x402_network: v.optional(text),
    suite: v.string("must be a string"),
    signature: text,
  },
  "is missing",
);

/** Amounts are US dollars of at most 6 decimals, `settled_at` is in ms, `issuer` a did:key. */
export type SettlementRecord = v.InferOutput<typeof SettlementRecordSchema>;

/** A settlement record before it is signed. */
export type SettlementRecordBody = Omit<SettlementRecord, "suite" | "signature">;

/** Every reason for which a settlement record is not valid. */
export type SettlementRefusal =
  | "settlement.malformed"
  | "settlement.suite"
  | "settlement.wrong_issuer"
  | "settlement.signature_invalid";

/** The body with `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signSettlementRecord(
  body: SettlementRecordBody,
  secretKey: Uint8Array,
): SettlementRecord {
  return signJson({ ...body, suite: SUITE }, secretKey);
}

/**
 * Judges a settlement record by the key that its issuer's did:key is. With `publicKey` (64 hex
 * digits) the issuer has to be that relay, else `settlement.wrong_issuer`; without it, any.
 */
export function verifySettlementRecord(
  value: unknown,
  { publicKey }: { readonly publicKey?: string | undefined } = {},
): Verdict<SettlementRefusal> {
  const record = v.is(SettlementRecordSchema, value) ? value : null;
  const key = record && keyOfIssuer(record.issuer);
  const isExpected = () => publicKey === undefined || (key && bytesToHex(key)) === publicKey;
  return judgeInOrder<SettlementRefusal>([
    ["structure", "settlement.malformed", () => record !== null],
    ["suite", "settlement.suite", () => record?.suite === SUITE],
    ["issuer", "settlement.wrong_issuer", isExpected],
    ["signature", "settlement.signature_invalid", () => key !== null && verifyJson(record, key)],
  ]);
}
