import { filterKeysInForce, type ExecutionReceipt, type ReceiptTimes } from "@agent/receipts";
import { listSigningKeys, type SigningKeyRow } from "../../agents/keys/key-store.ts";
import type { Reader } from "../../storage/storage.ts";

/** The keys that count for a receipt; undefined for an agent without a registered key. */
export type SignerKeys = readonly string[] | undefined;

/**
 * Lists the keys bound to a receipt's agent: its device's first, then its own, then its other
 * devices'. The agent's former keys count by the same rule as in its evidence (docs/decisions.md,
 * 4).
 */
export async function listSignerKeys(
  read: Reader,
  { agent_id, device_id }: Pick<ExecutionReceipt, "agent_id" | "device_id">,
  times: ReceiptTimes,
): Promise<SignerKeys> {
  const rows = await listSigningKeys(read, agent_id);
  if (rows.length === 0) return undefined;
  const rank = (row: SigningKeyRow) =>
    row.device_id === device_id ? 0 : row.device_id === null ? 1 : 2;
  const valid = filterKeysInForce(rows, times).toSorted((a, b) => rank(a) - rank(b));
  return [...new Set(valid.map((row) => row.public_key))];
}
