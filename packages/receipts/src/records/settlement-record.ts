import type { Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, money, text, wholeNumber } from "../fields.ts";
import { buildIssuerCheck, issuer, type IssuerKeys, listSigningKeys } from "../keys/issuer-key.ts";
import { createRecordVerifier, signRecord } from "./signed-record.ts";

/** A relay's settlement of one task (specification, Settlement record), signed like a receipt. */
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
    // The relay that settled and signed.
    issuer,
    // The outcome of an inspection before payment, by its `hashOutcomeRecord`.
    outcome_hash: v.optional(hex32),
    x402_tx_hash: v.optional(text),
    x402_network: v.optional(text),
    suite: v.string("must be a string"),
    signature: text,
  },
  "is missing",
);

/**
 * Amounts are US dollars of at most 6 decimals, `settled_at` is in ms since the epoch by the relay's clock,
 * `issuer` a did:key.
 */
export type SettlementRecord = v.InferOutput<typeof SettlementRecordSchema>;

/** A settlement record before it is signed. */
export type SettlementRecordBody = Omit<SettlementRecord, "suite" | "signature">;

/** Every reason for which a settlement record is not valid. */
export type SettlementRefusal =
  | "settlement.malformed"
  | "settlement.suite"
  | "settlement.wrong_issuer"
  | "settlement.signature_invalid";

/** Returns the body with `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signSettlementRecord(
  body: SettlementRecordBody,
  secretKey: Uint8Array,
): SettlementRecord {
  return signRecord(body, secretKey);
}

const verifyRecord = createRecordVerifier({
  kind: "settlement",
  schema: SettlementRecordSchema,
  checks: [buildIssuerCheck("settlement")],
  listKeys: listSigningKeys,
});

/**
 * Verifies a settlement record with the key in its issuer's did:key. With `publicKey` (64 hex digits) the
 * issuer must be that relay; another one is refused with `settlement.wrong_issuer`. With `relayKeys`, a
 * relay's verified chain, oldest first, the issuer must be one of these keys, and that key or a later one
 * must have signed: the issuer of a record never changes, but the relay signs whenever a record is read.
 */
export function verifySettlementRecord(
  value: unknown,
  options: IssuerKeys = {},
): Verdict<SettlementRefusal> {
  return verifyRecord(value, options);
}
