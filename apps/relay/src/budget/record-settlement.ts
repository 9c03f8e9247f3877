import { toDollars, ZERO, type Micro } from "@agent/budget";
import { SUITE } from "@agent/crypto";
import { entryOf } from "@agent/transparency";
import { recordRelayEvent } from "../feed/record-event.ts";
import { appendLog } from "../log/entries/append.ts";
import type { Log } from "../observability/log.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { SettlementRow } from "../storage/tables/budget.ts";
import type { PostedRow } from "./post-movement.ts";
import { buildSettlementBody } from "./sign-settlement.ts";
import { findPaymentOfTask } from "./settlement-facts-store.ts";
import { insertSettlement } from "./store.ts";

interface RecordedSettlement {
  readonly taskId: string;
  readonly settlementId: string;
  readonly allocationId: string;
  readonly receiptHash: string;
  /** Of the ledger that the amount follows from; absent where none does. */
  readonly ledgerHash?: string | undefined;
  /** In micro-units; absent for a refund, which moves nothing to the payee. */
  readonly terms?: { readonly gross: Micro; readonly fee: Micro; readonly net: Micro };
  readonly payerId: string;
  readonly payeeId: string;
  readonly status: SettlementRow["status"];
  readonly settledAt: number;
  /** The payment on a chain; where it is absent, that of the task counts, if there is one. */
  readonly x402?: { readonly txHash: string; readonly network: string } | undefined;
  /** Of the outcome of an inspection; absent for a task that was not inspected. */
  readonly outcomeHash?: string;
}

/** Stores what was paid for a task, with the postings that paid it. */
export async function recordSettlement(
  tx: Tx,
  { identity }: Pick<Services, "identity">,
  recorded: RecordedSettlement,
  rows: readonly PostedRow[],
): Promise<SettlementRow> {
  const { gross, fee, net } = recorded.terms ?? { gross: ZERO, fee: ZERO, net: ZERO };
  const x402 = recorded.x402 ?? (await findPaymentOfTask(tx, recorded.taskId));
  const settlement: SettlementRow = {
    task_id: recorded.taskId,
    settlement_id: recorded.settlementId,
    allocation_id: recorded.allocationId,
    receipt_hash: recorded.receiptHash,
    ledger_hash: recorded.ledgerHash ?? null,
    amount_settled: gross,
    fee,
    net,
    payer_id: recorded.payerId,
    payee_id: recorded.payeeId,
    status: recorded.status,
    settled_at: recorded.settledAt,
    postings: JSON.stringify(rows),
    x402_tx_hash: x402?.txHash ?? null,
    x402_network: x402?.network ?? null,
    // The position of the key in force: it only changes while the relay is stopped.
    relay_key: identity.succession.length,
    outcome_hash: recorded.outcomeHash ?? null,
  };
  await insertSettlement(tx, settlement);
  const { task_id, settlement_id, payer_id, payee_id, settled_at } = settlement;
  await recordRelayEvent(
    tx,
    { at: settled_at, type: "money.settled" },
    { task_id, settlement_id, payer_id, payee_id, amount: toDollars(gross), fee: toDollars(fee) },
  );
  await appendLog(tx, () => {
    const record = { ...buildSettlementBody(settlement, identity), suite: SUITE };
    return entryOf.settlement(record, { time: settled_at });
  });
  return settlement;
}

type Refund = Pick<
  RecordedSettlement,
  "taskId" | "allocationId" | "receiptHash" | "payerId" | "payeeId"
>;

/** Stores that a task of another relay's agent was not paid; its hold is returned by the caller. */
export function recordRefund(
  tx: Tx,
  { identity, runtime }: Pick<Services, "identity" | "runtime">,
  refund: Refund,
): Promise<SettlementRow> {
  const made = { settlementId: newId(runtime), settledAt: runtime.now() };
  return recordSettlement(tx, { identity }, { ...refund, ...made, status: "refunded" }, []);
}

type LoggedSettlement = Pick<
  SettlementRow,
  "task_id" | "settlement_id" | "status" | "net" | "fee" | "payer_id" | "payee_id"
>;

/** Logs a settlement once it is durable; `peer` is the relay that it was made with. */
export function logSettlement(
  log: Log,
  { task_id, settlement_id, status, net, fee, payer_id, payee_id }: LoggedSettlement,
  peer?: { readonly relay_id: string },
): void {
  log.info("settlement.created", {
    correlationId: task_id,
    settlement_id,
    ...peer,
    status,
    net: toDollars(net),
    fee: toDollars(fee),
    payer_id,
    payee_id,
  });
}
