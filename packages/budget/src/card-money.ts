import { EXTERNAL_ACCOUNT, type Account } from "./account.ts";
import { asMicro, negate, ZERO, type Micro } from "./money.ts";
import { isReversal, type Posting } from "./posting.ts";

/**
 * Money of an account that came from a card and cannot be withdrawn before `releaseAt` (ms since the Unix
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
   * The money of the account that is in holds and pending withdrawals after the movement, in
   * micro-units. It may return.
   */
  readonly away: number;
}

/** The maximum number of lots of an account; above it the two with the closest times are merged. */
export const MAX_CARD_LOTS = 64;

/** Sums the part of a balance that cannot be withdrawn yet at `now` (ms), in micro-units. */
export function sumHeldCardMoney({ balance, lots }: CardHolding, now: number): Micro {
  const waiting = sumLots(lots.filter(({ releaseAt }) => releaseAt > now));
  return asMicro(Math.min(waiting, Math.max(0, balance)));
}

/**
 * Computes the lots of all accounts after a movement (docs/decisions.md, 5). Other money leaves an account
 * before card money, and the lot with the earliest release time first; a lot keeps its release time in a
 * hold, at a payee and back at the payer; another relay is a payee and a payer like an agent. Card money
 * goes to the payee before the relay's fee. A reversed deposit (negative on its account) takes its own lot
 * first and then other money, so that it releases no other payment, nor one whose money is on the account
 * only when a hold has returned. `releaseAt` is given for a card deposit and its reversal. Refused with
 * `budget.card_hold` for a withdrawal of money that is not released, except for what the operator pays to
 * another relay.
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
 * Reduces the lots to what the account has or may get back, because money that repaid a debt is gone. Those
 * with the earliest release times are dropped. Applied only after the whole movement, because a hold
 * returned to an overdrawn account pays from its own lots. Not applied to another relay: what it ordered on
 * credit was paid out without a wait, so card money that repays it and is reversed would be lost each time,
 * and the credit limit would not bound the loss.
 */
function capLots({ balance, away, lots }: MovedHolding): readonly CardLot[] {
  return takeFromLots(lots, Math.max(0, sumLots(lots) - Math.max(0, balance + away))).rest;
}

/** Returns whether an account has lots; fees are not paid out, so they have none. */
function hasLots(account: Account): boolean {
  return account.startsWith("agent:") || account.startsWith("held:") || isPeer(account);
}

/** Returns whether an account is that of another relay, which has credit and may be below 0. */
function isPeer(account: Account): boolean {
  return account.startsWith("peer:");
}

function withoutReleasedLots(holding: MovedHolding | undefined, now: number): MovedHolding {
  const { balance, lots, away } = holding ?? { balance: 0, lots: [], away: 0 };
  return { balance, away, lots: lots.filter(({ releaseAt }) => releaseAt > now) };
}

/** Takes up to `amount` out of the lots, in the order of their release times. */
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

/** Merges two lists of lots: sorted, one lot for each release time, at most `MAX_CARD_LOTS`. */
function mergeLots(a: readonly CardLot[], b: readonly CardLot[]): readonly CardLot[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
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
 * Merges two neighbours under the later release time, so that no money is released early: the ones that lie in
 * the smallest common cell of a fixed division of time into halves. A lot never leaves its cell, however often it is
 * merged, and of 65 lots within the time for which card money waits, two are always in a cell of less than a
 * thirty-second of it. Merged by their distance, later payments would move a lot on without end.
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

/** Returns the length in ms of the smallest cell with both times: a power of two, whose multiples bound it. */
function getCommonCell(first: number, second: number): number {
  let length = 1;
  while (Math.floor(first / length) !== Math.floor(second / length)) length *= 2;
  return length;
}

function sumLots(lots: readonly CardLot[]): Micro {
  return asMicro(lots.reduce((sum: number, { amount }) => sum + amount, ZERO));
}
