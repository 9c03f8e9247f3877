import {
  sumHeldCardMoney,
  moveCardMoney,
  type Account,
  type CardHolding,
  type CardLot,
  type MovedHolding,
  type Posting,
  type Micro,
} from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import type { AccountRow } from "../../storage/tables/budget.ts";

type StoredHolding = Pick<AccountRow, "balance" | "card_lots">;

/** An account before and after a movement. */
interface AccountChange {
  readonly opening: AccountRow;
  readonly now: AccountRow;
}

/**
 * Returns the lots after a movement for each account whose lots it changes, and whether unreleased card
 * money moved. An account that never held card money is not read.
 */
export function applyToCardLots(
  postings: readonly Posting[],
  accounts: ReadonlyMap<Account, AccountChange>,
  time: { readonly now: number; readonly releaseAt: number | undefined },
):
  | {
      readonly ok: true;
      readonly lots: ReadonlyMap<Account, string | null>;
      readonly movesCardMoney: boolean;
    }
  | Refusal<"budget.card_hold"> {
  const seen = [...accounts.values()].some(({ opening }) => opening.card_lots !== null);
  if (!seen && time.releaseAt === undefined) {
    return { ok: true, lots: new Map(), movesCardMoney: false };
  }
  const holdings = new Map<Account, MovedHolding>();
  for (const [account, { opening, now }] of accounts) {
    const away = now.held + now.pending_withdrawals;
    holdings.set(account, { ...toHolding(opening), away });
  }
  const moved = moveCardMoney(postings, holdings, time);
  if (!moved.ok) return refuse(moved.code);
  const lots = new Map([...moved.lots].map(([account, left]) => [account, formatLots(left)]));
  return { ok: true, lots, movesCardMoney: moved.movesCardMoney };
}

/** Returns how much of a balance may not be withdrawn yet, in micro-units. */
export function getCardHeld(row: StoredHolding, now: number): number {
  return sumHeldCardMoney(toHolding(row), now);
}

function toHolding({ balance, card_lots }: StoredHolding): CardHolding {
  if (card_lots === null) return { balance, lots: [] };
  const lots = JSON.parse(card_lots) as readonly (readonly [number, Micro])[];
  return { balance, lots: lots.map(([releaseAt, amount]) => ({ releaseAt, amount })) };
}

function formatLots(lots: readonly CardLot[]): string | null {
  if (lots.length === 0) return null;
  return JSON.stringify(lots.map(({ releaseAt, amount }) => [releaseAt, amount]));
}
