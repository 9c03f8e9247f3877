import { toDollars } from "@agent/budget";
import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
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
  const {
    amount_settled,
    fee,
    net,
    postings: _,
    x402_tx_hash,
    x402_network,
    relay_key,
    outcome_hash,
    ...rest
  } = row;
  return {
    ...rest,
    amount_settled: toDollars(amount_settled),
    fee: toDollars(fee),
    net: toDollars(net),
    issuer: getDid(identity, identity.publicKeys[relay_key] ?? identity.publicKey),
    // An absent member must not be signed as null.
    ...(outcome_hash !== null && { outcome_hash }),
    ...(x402_tx_hash !== null && { x402_tx_hash }),
    ...(x402_network !== null && { x402_network }),
  };
}

/** Converts a key of the relay; that of the key in force is known, because each settlement needs it. */
function getDid({ publicKey, did }: Pick<RelayIdentity, "publicKey" | "did">, key: string): string {
  return key === publicKey ? did : publicKeyToDidKey(hexToBytes(key));
}
