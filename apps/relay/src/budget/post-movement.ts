import {
  FEE_ACCOUNT,
  MAX_BALANCE,
  EXTERNAL_ACCOUNT,
  accountOf,
  checkFunds,
  isReversal,
  type Account,
  type Posting,
  asMicro,
  ZERO,
} from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import { newId, type Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import type { AccountRow, PostingRow } from "../storage/tables/budget.ts";
import { applyToCardLots } from "./accounts/card-lots.ts";
import { findAccountToMove, insertPosting, saveAccount } from "./store.ts";

/** The references shared by all postings of one movement. */
export interface PostingEntry {
  readonly reference: string | null;
  readonly description: string | null;
  /** The time from which a deposit by card may be withdrawn. */
  readonly releaseAt?: number | undefined;
  /** An agent's balance may exceed its limit, because money that is held must not stay held. */
  readonly ignoresLimit?: true;
}

/** The position of a posting. */
export type PostedRow = readonly [account: string, sequence: number];

export type PostRefusal = Refusal<
  "budget.insufficient" | "account.overdrawn" | "budget.card_hold" | "money.balance_limit"
>;

/**
 * Writes one movement; money moves in no other way. Postings come balanced from `@agent/budget`. The whole
 * movement is refused if an account would fall below 0 that must not, and if a withdrawal contains
 * unreleased card money. `found` is an account that `findAccountToMove` has found in this transaction.
 * Returns the id of the last row, the positions of all rows, and whether unreleased card money left an
 * account.
 */
export async function postMovement(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  postings: readonly Posting[],
  entry: PostingEntry,
  found?: AccountRow,
): Promise<
  | {
      readonly ok: true;
      readonly transactionId: string;
      readonly rows: readonly PostedRow[];
      readonly movesCardMoney: boolean;
    }
  | PostRefusal
> {
  const accounts = await loadAccounts(tx, postings, found);
  const rows: PostingRow[] = [];
  const time = runtime.now();
  for (const posting of postings) {
    const { account, type, amount } = posting;
    const known = accounts.get(account) ?? openAccount(account);
    const heldChange = getHeldChange(account, type, amount);
    const balance = known.now.balance + amount;
    // The sum of all deposits may exceed the range of integers before any agent reaches its limit.
    if (!Number.isSafeInteger(balance)) return refuse("money.balance_limit");
    const now = {
      ...known.now,
      balance: asMicro(balance),
      held: asMicro(known.now.held + heldChange),
      sequence: known.now.sequence + 1,
      // Times must grow with sequences even when the clock went back, because statements search by them.
      last_posted_at: Math.max(time, known.now.last_posted_at),
    };
    const covered = checkFunds({ before: known.opening.balance, after: now.balance });
    if (!covered.ok && !mayBeNegative(posting)) return refuse(covered.code);
    // Held and pending amounts count, so that they can always be returned.
    const due = now.balance + now.held + now.pending_withdrawals;
    // A debit, and a move into its hold, are booked for an account above the limit too.
    const isOver = account.startsWith("agent:") && amount + heldChange > 0 && due > MAX_BALANCE;
    if (isOver && entry.ignoresLimit !== true) return refuse("money.balance_limit");
    accounts.set(account, { opening: known.opening, now });
    rows.push({
      account,
      sequence: now.sequence,
      transaction_id: newId(runtime, time),
      type,
      amount,
      balance_after: now.balance,
      reference_id: entry.reference,
      description: entry.description,
      created_at: now.last_posted_at,
    });
  }
  const { releaseAt } = entry;
  const moved = applyToCardLots(postings, accounts, { now: time, releaseAt });
  if (!moved.ok) return moved;
  for (const [account, { opening, now }] of accounts) {
    const card_lots = moved.lots.get(account) ?? null;
    await saveAccount(tx, { ...now, card_lots }, opening.sequence);
  }
  for (const row of rows) await insertPosting(tx, row);
  return {
    ok: true,
    transactionId: rows.at(-1)?.transaction_id ?? "",
    rows: rows.map(({ account, sequence }) => [account, sequence]),
    movesCardMoney: moved.movesCardMoney,
  };
}

/** An account before a movement and after the postings so far. */
interface MovedAccount {
  readonly opening: AccountRow;
  readonly now: AccountRow;
}

/** Loads and locks the accounts in one order for all movements, so that no two wait for each other. */
async function loadAccounts(
  tx: Tx,
  postings: readonly Posting[],
  found: AccountRow | undefined,
): Promise<Map<Account, MovedAccount>> {
  const names = [...new Set(postings.map(({ account }) => account))].toSorted();
  const rows = await Promise.all(
    names.map((name) =>
      name === found?.account ? Promise.resolve(found) : findAccountToMove(tx, name),
    ),
  );
  return new Map(names.map((name, at) => [name, openAccount(name, rows[at])]));
}

function openAccount(account: Account, row?: AccountRow): MovedAccount {
  const opening = row ?? { ...unopenedAccount, account };
  return { opening, now: opening };
}

const unopenedAccount = {
  balance: ZERO,
  held: ZERO,
  pending_withdrawals: ZERO,
  sequence: 0,
  last_posted_at: 0,
  card_lots: null,
};

/** An agent's open holds are summed beside its balance, so that no reader must add them up. */
function getHeldChange(account: Account, type: Posting["type"], amount: number): number {
  if (!account.startsWith("agent:")) return 0;
  return type === "allocation_hold" || type === "allocation_release" ? -amount : 0;
}

/** Only accounts of the outside may be negative, and an agent's after a deposit was reversed. */
function mayBeNegative(posting: Posting): boolean {
  const { account } = posting;
  return account === EXTERNAL_ACCOUNT || account.startsWith("peer:") || isReversal(posting);
}

/** Returns the account whose rows the transaction list shows; for the relay itself the fee account. */
export function getTransactionAccount(agentId: string, relayId: string): Account {
  return agentId === relayId ? FEE_ACCOUNT : accountOf.agent(agentId);
}
