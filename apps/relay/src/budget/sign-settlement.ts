import { toDollars } from "@agent/budget";
import { hexToDidKey } from "@agent/crypto";
import {
  signSettlementRecord,
  type SettlementRecord,
  type SettlementRecordBody,
} from "@agent/receipts";
import type { RelayIdentity } from "../identity/relay-identity.ts";
import type { SettlementRow } from "../storage/tables/budget.ts";

/**
 * Ed25519 signs deterministically, so a record is signed when it is read, not when money moves. Its issuer
 * remains the key of the settlement's time, so that a succession does not change its hash; the key in force
 * signs it (docs/decisions.md, 6).
 */
export function signSettlement(row: SettlementRow, identity: RelayIdentity): SettlementRecord {
  return signSettlementRecord(buildSettlementBody(row, identity), identity.secretKey);
}

/** Builds the record without its signature; it never changes. */
export function buildSettlementBody(
  row: SettlementRow,
  identity: Pick<RelayIdentity, "publicKeys" | "publicKey" | "did">,
): SettlementRecordBody {
  const { outcome_hash, x402_tx_hash, x402_network } = row;
  return {
    task_id: row.task_id,
    settlement_id: row.settlement_id,
    allocation_id: row.allocation_id,
    receipt_hash: row.receipt_hash,
    ledger_hash: row.ledger_hash,
    amount_settled: toDollars(row.amount_settled),
    fee: toDollars(row.fee),
    net: toDollars(row.net),
    payer_id: row.payer_id,
    payee_id: row.payee_id,
    status: row.status,
    settled_at: row.settled_at,
    issuer: getDid(identity, identity.publicKeys[row.relay_key] ?? identity.publicKey),
    // An absent member must not be signed as null.
    ...(outcome_hash !== null && { outcome_hash }),
    ...(x402_tx_hash !== null && { x402_tx_hash }),
    ...(x402_network !== null && { x402_network }),
  };
}

/** Converts a key of the relay; that of the key in force is known, because each settlement needs it. */
function getDid({ publicKey, did }: Pick<RelayIdentity, "publicKey" | "did">, key: string): string {
  return key === publicKey ? did : hexToDidKey(key);
}
