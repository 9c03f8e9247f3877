import { bytesToHex, hexToBytes, signJson, SUITE, verifyJson, type Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, money, text, wholeNumber } from "../fields.ts";
import { issuer, parseIssuerKey } from "../keys/issuer-key.ts";
import { runChecks } from "../checks/run-checks.ts";

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
    settled_at: wholeNumber,
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
 * digits) the issuer has to be that relay, else `settlement.wrong_issuer`; without it, any. With
 * `relayKeys`, a relay's verified chain, oldest first, the issuer is one of them and signs by it or a later
 * one: the issuer stays that of the settlement's time, and the relay signs when a record is read.
 */
export function verifySettlementRecord(
  value: unknown,
  {
    publicKey,
    relayKeys = publicKey === undefined ? undefined : [publicKey],
  }: {
    readonly publicKey?: string | undefined;
    readonly relayKeys?: readonly string[] | undefined;
  } = {},
): Verdict<SettlementRefusal> {
  const record = v.is(SettlementRecordSchema, value) ? value : null;
  const key = record && parseIssuerKey(record.issuer);
  const keys = relayKeys ?? (key === null ? [] : [bytesToHex(key)]);
  const position = key === null ? -1 : keys.indexOf(bytesToHex(key));
  const isExpected = () => position >= 0;
  const isSigned = () =>
    keys.slice(position).some((signer) => verifyJson(record, hexToBytes(signer)));
  return runChecks<SettlementRefusal>([
    ["structure", "settlement.malformed", () => record !== null],
    ["suite", "settlement.suite", () => record?.suite === SUITE],
    ["issuer", "settlement.wrong_issuer", isExpected],
    ["signature", "settlement.signature_invalid", isSigned],
  ]);
}
