import { EXTERNAL_ACCOUNT, type Account } from "./account.ts";
import { asMicro, negate, ZERO, type Micro } from "./money.ts";
import { isReversal, type Posting } from "./posting.ts";

/**
 * Money in an account that came from a card. It cannot be withdrawn before `releaseAt` (ms since the Unix
 * epoch), because the payment can be reversed until then.
 */
export interface CardLot {
  readonly releaseAt: number;
  readonly amount: Micro;
}

/** The balance of an account in micro-units, and its lots sorted by release time. */
export interface CardHolding {
  readonly balance: number;
  readonly lots: readonly CardLot[];
}

/** An account before a movement. */
export interface MovedHolding extends CardHolding {
  /**
   * The account's money in holds and pending withdrawals after the movement, in micro-units. It may come
   * back.
   */
  readonly away: number;
}

/** The maximum number of lots of an account; beyond it, the two with the closest release times are merged. */
export const MAX_CARD_LOTS = 64;

/** Sums the part of a balance that cannot be withdrawn yet at `now` (ms), in micro-units. */
export function sumHeldCardMoney({ balance, lots }: CardHolding, now: number): Micro {
  const waiting = sumLots(lots.filter(({ releaseAt }) => releaseAt > now));
  return asMicro(Math.min(waiting, Math.max(0, balance)));
}

/**
 * Computes the lots of all accounts after a movement (docs/decisions.md, 5). An account spends other money
 * before card money, and card money in the order of release times. A lot keeps its release time while it is
 * in a hold, at a payee (which may be another relay) and after its return to the payer. The payee receives
 * card money before the relay receives its fee.
 *
 * A reversed deposit (negative on its account) takes its own lot first and other money next, so that it
 * releases neither another payment nor one whose money will only return from a hold. `releaseAt` is given
 * for a card deposit and its reversal. The withdrawal of card money before its release is refused with
 * `budget.card_hold`, except when the operator pays another relay.
 */
export function moveCardMoney(
  postings: readonly Posting[],
  holdings: ReadonlyMap<Account, MovedHolding>,
  { now, releaseAt = now }: { readonly now: number; readonly releaseAt?: number | undefined },
):
  | {
      readonly ok: true;
      readonly lots: ReadonlyMap<Account, readonly CardLot[]>;
      /** Whether card money that is not released left an account, for example the hold of a task. */
      readonly movesCardMoney: boolean;
    }
  | { readonly ok: false; readonly code: "budget.card_hold" } {
  const after = new Map<Account, MovedHolding>();
  let moving: readonly CardLot[] = [];
  let movesCardMoney = false;
  for (const posting of postings) {
    const { account, type, amount } = posting;
    if (account === EXTERNAL_ACCOUNT) {
      moving = amount < 0 && releaseAt > now ? [{ releaseAt, amount: negate(amount) }] : [];
      continue;
    }
    if (!hasLots(account)) continue;
    const before = after.get(account) ?? withoutReleasedLots(holdings.get(account), now);
    const { balance, lots } = before;
    let remaining: readonly CardLot[];
    if (amount > 0) {
      const taken = takeFromLots(moving, amount);
      moving = taken.rest;
      remaining = mergeLots(lots, taken.taken);
    } else {
      const outgoing = negate(amount);
      if (isReversal(posting)) {
        remaining = lots.flatMap((lot) =>
          lot.releaseAt === releaseAt ? takeFromLots([lot], outgoing).rest : lot,
        );
      } else {
        const other = Math.max(0, balance - sumLots(lots));
        const drawn = takeFromLots(lots, Math.max(0, outgoing - other));
        if (type === "withdrawal" && !isPeer(account) && drawn.taken.length > 0) {
          return { ok: false, code: "budget.card_hold" };
        }
        moving = mergeLots(moving, drawn.taken);
        movesCardMoney ||= drawn.taken.length > 0;
        remaining = drawn.rest;
      }
    }
    after.set(account, { ...before, balance: balance + amount, lots: remaining });
  }
  return {
    ok: true,
    movesCardMoney,
    lots: new Map(
      [...after].map(([account, held]) => [account, isPeer(account) ? held.lots : capLots(held)]),
    ),
  };
}

/**
 * Reduces the lots to what the account has or may get back, because money that repaid a debt is gone. The
 * lots with the earliest release times are dropped. This applies only after the whole movement, because a
 * hold that returns to an overdrawn account pays from its own lots.
 *
 * It does not apply to another relay: what that relay ordered on credit was paid out immediately, so card
 * money that repays it and is then reversed would be lost each time, and the credit limit would not bound
 * the loss.
 */
function capLots({ balance, away, lots }: MovedHolding): readonly CardLot[] {
  return takeFromLots(lots, Math.max(0, sumLots(lots) - Math.max(0, balance + away))).rest;
}

/** Returns whether an account has lots. The fee account has none, because fees are not paid out. */
function hasLots(account: Account): boolean {
  return account.startsWith("agent:") || account.startsWith("held:") || isPeer(account);
}

/** Returns whether an account belongs to another relay, which has credit and may be below 0. */
function isPeer(account: Account): boolean {
  return account.startsWith("peer:");
}

function withoutReleasedLots(holding: MovedHolding | undefined, now: number): MovedHolding {
  const { balance, lots, away } = holding ?? { balance: 0, lots: [], away: 0 };
  return { balance, away, lots: lots.filter(({ releaseAt }) => releaseAt > now) };
}

/** Takes up to `amount` from the lots, in the order of their release times. */
function takeFromLots(lots: readonly CardLot[], amount: number) {
  const taken: CardLot[] = [];
  const rest: CardLot[] = [];
  let missing = amount;
  for (const lot of lots) {
    const part = Math.min(missing, lot.amount);
    missing -= part;
    if (part > 0) taken.push({ ...lot, amount: asMicro(part) });
    if (part < lot.amount) rest.push({ ...lot, amount: asMicro(lot.amount - part) });
  }
  return { taken, rest };
}

/**
 * Merges two lists of lots into a sorted one with one lot per release time and at most `MAX_CARD_LOTS`
 * lots.
 */
function mergeLots(a: readonly CardLot[], b: readonly CardLot[]): readonly CardLot[] {
  const amounts = new Map<number, number>();
  for (const { releaseAt, amount } of [...a, ...b]) {
    amounts.set(releaseAt, (amounts.get(releaseAt) ?? 0) + amount);
  }
  const lots = [...amounts]
    .sort(([first], [second]) => first - second)
    .map(([releaseAt, amount]) => ({ releaseAt, amount: asMicro(amount) }));
  while (lots.length > MAX_CARD_LOTS) mergeClosestLots(lots);
  return lots;
}

/**
 * Merges two neighbouring lots under the later release time, so that no money is released early. Time is
 * divided into fixed cells by repeated halving, and the pair in the smallest common cell is merged. A lot
 * never leaves its cell, however often it is merged, and of 65 lots within the waiting time of card money
 * two always share a cell of less than a thirty-second of that time. If the closest pair were merged
 * instead, later payments could postpone a lot forever.
 */
function mergeClosestLots(lots: CardLot[]): void {
  const cells = lots
    .slice(1)
    .map(({ releaseAt }, at) => getCommonCell(lots[at]!.releaseAt, releaseAt));
  const closest = cells.indexOf(Math.min(...cells));
  const { releaseAt, amount } = lots[closest + 1]!;
  const joined = { releaseAt, amount: asMicro(lots[closest]!.amount + amount) };
  lots.splice(closest, 2, joined);
}

/**
 * Returns the length in ms of the smallest cell that contains both times: a power of two; cells begin at
 * its multiples.
 */
function getCommonCell(first: number, second: number): number {
  let length = 1;
  while (Math.floor(first / length) !== Math.floor(second / length)) length *= 2;
  return length;
}

function sumLots(lots: readonly CardLot[]): Micro {
  return asMicro(lots.reduce((sum: number, { amount }) => sum + amount, ZERO));
}
