import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accountOf, EXTERNAL_ACCOUNT, FEE_ACCOUNT, type Account } from "./account.ts";
import { asMicro, negate, type Micro } from "./money.ts";
import {
  sumHeldCardMoney,
  MAX_CARD_LOTS,
  moveCardMoney,
  type CardLot,
  type MovedHolding,
} from "./card-money.ts";
import {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  buildReleasePostings,
  buildReturnPostings,
  buildReversalPostings,
  buildSettlementPostings,
  buildWithdrawalPostings,
  type Posting,
} from "./posting.ts";

/** The accounts of a relay with their lots, moved like in the relay. */
class CardBook {
  balances: Map<Account, Micro> = new Map();
  readonly lots: Map<Account, readonly CardLot[]> = new Map();
  /** The money of each agent in holds and pending withdrawals. */
  away: Map<Account, number> = new Map();

  post(postings: readonly Posting[], now: number, releaseAt?: number): boolean {
    const moved = this.move(postings, now, releaseAt);
    if (!moved.ok) return false;
    this.balances = applyPostings(this.balances, postings);
    this.away = this.computeAway(postings);
    for (const [account, lots] of moved.lots) this.lots.set(account, lots);
    return true;
  }

  /** Returns what a movement would do, and books nothing. */
  move(postings: readonly Posting[], now: number, releaseAt?: number) {
    const away = this.computeAway(postings);
    const holdings = new Map<Account, MovedHolding>(
      [...new Set(postings.map(({ account }) => account))].map((account) => [
        account,
        { ...this.holding(account), away: away.get(account) ?? 0 },
      ]),
    );
    return moveCardMoney(postings, holdings, { now, releaseAt });
  }

  private computeAway(postings: readonly Posting[]): Map<Account, number> {
    const away = new Map(this.away);
    for (const { account, type, amount } of postings) {
      if (!account.startsWith("agent:") || !/^(allocation_|withdrawal)/.test(type)) continue;
      away.set(account, (away.get(account) ?? 0) - amount);
    }
    return away;
  }

  balance(account: Account): number {
    return this.balances.get(account) ?? 0;
  }

  held(account: Account, now: number): number {
    return sumHeldCardMoney(this.holding(account), now);
  }

  /** Sums the lots that wait, also those of a peer whose balance is less. */
  waiting(account: Account, now: number): number {
    return this.waitingLots(account, now).reduce((sum, lot) => sum + lot.amount, 0);
  }

  waitingLots(account: Account, now: number): readonly CardLot[] {
    return (this.lots.get(account) ?? []).filter(({ releaseAt }) => releaseAt > now);
  }

  private holding(account: Account) {
    return { balance: this.balance(account), lots: this.lots.get(account) ?? [] };
  }
}

const [a, b] = [accountOf.agent("a"), accountOf.agent("b")];
const micro = (amount: number) => asMicro(amount);
const deposit = (agentId: string, amount: number) =>
  buildDepositPostings({ agentId, amount: micro(amount) });
const withdrawal = (agentId: string, amount: number, withdrawalId = "w") =>
  buildWithdrawalPostings({ agentId, withdrawalId, amount: micro(amount) });

const PEER = "relay:p";
const peer = accountOf.party(PEER);

interface PaidTask {
  readonly payerId: string;
  readonly taskId: string;
  readonly payeeId: string;
  readonly locked: Micro;
  readonly charge: Micro;
  readonly fee: Micro;
}

/** Builds the postings of a paid task; those of a peer's task do not return its hold first. */
function buildPayment({ payerId, payeeId, taskId, ...amounts }: PaidTask): readonly Posting[] {
  if (payerId !== PEER) {
    return buildSettlementPostings({ payerId, payeeId, taskId, ...amounts });
  }
  const { locked, fee } = amounts;
  const net = micro(locked - fee);
  const held = accountOf.held(taskId);
  const postings: readonly Posting[] = [
    { account: held, type: "fee", amount: negate(fee) },
    { account: FEE_ACCOUNT, type: "fee", amount: fee },
    { account: held, type: "settlement_credit", amount: negate(net) },
    { account: accountOf.party(payeeId), type: "settlement_credit", amount: net },
  ];
  return postings.filter(({ amount }) => amount !== 0);
}

/** Builds the postings of a payment outside: `amount` to a peer, or from it if negative. */
function buildClearing(amount: number): readonly Posting[] {
  const type = amount > 0 ? "withdrawal" : "deposit";
  const sides: readonly Posting[] = [
    { account: peer, type, amount: micro(-amount) },
    { account: EXTERNAL_ACCOUNT, type, amount: micro(amount) },
  ];
  return amount > 0 ? sides : sides.toReversed();
}

/** Holds and pays a task of `payerId`; the fee is a tenth. */
function pay(book: CardBook, payerId: string, payeeId: string, charge: number, now: number): void {
  const task = { payerId, taskId: "t" };
  book.post(buildHoldPostings({ ...task, amount: micro(charge) }), now);
  const fee = micro(charge / 10);
  const amounts = { locked: micro(charge), charge: micro(charge), fee };
  book.post(buildPayment({ ...task, payeeId, ...amounts }), now);
}

describe("A13: card money", () => {
  test("A13: card money can be withdrawn from its release time on and not before", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    expect(book.post(withdrawal("a", 1), 49)).toBe(false);
    expect(book.balance(a)).toBe(100);
    expect(book.post(withdrawal("a", 100), 50)).toBe(true);
  });

  test("A13: a deposit of other money or of card money that is released leaves no lot", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 50);
    book.post(deposit("b", 100), 50, 49);
    expect([book.lots.get(a), book.lots.get(b)]).toEqual([[], []]);
  });

  test("A13: the fee account has no lots, and an account without money has none", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", "b", 100, 0);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0);
    book.post(deposit("a", 100), 0, 60);
    expect([book.lots.get(FEE_ACCOUNT), book.lots.get(a)]).toEqual([undefined, []]);
  });

  test("A13: card money is spent after other money, which can be withdrawn", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    book.post(deposit("a", 100), 0);
    expect(book.held(a, 0)).toBe(100);
    pay(book, "a", "b", 60, 0);
    expect([book.held(a, 0), book.held(b, 0)]).toEqual([100, 0]);
    expect(book.post(withdrawal("a", 41), 0)).toBe(false);
    expect(book.post(withdrawal("a", 40), 0)).toBe(true);
    expect(book.post(withdrawal("b", 54), 0)).toBe(true);
  });

  test("A13: card money keeps its release time at its payee and at the payee's payee", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", "b", 100, 10);
    expect(book.held(b, 10)).toBe(90);
    expect(book.post(withdrawal("b", 1), 49)).toBe(false);
    pay(book, "b", "c", 90, 20);
    expect(book.held(accountOf.agent("c"), 49)).toBe(81);
    expect(book.held(accountOf.agent("c"), 50)).toBe(0);
  });

  test("A13: card money keeps its release time in a hold and after its return", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    const task = { payerId: "a", taskId: "t", amount: micro(100) };
    book.post(buildHoldPostings(task), 0);
    expect(book.held(accountOf.held("t"), 0)).toBe(100);
    book.post(buildReleasePostings(task), 0);
    expect([book.held(accountOf.held("t"), 0), book.held(a, 0)]).toEqual([0, 100]);
  });

  test("A13: card money goes to the payee before the fee when other money pays a part", () => {
    const book = new CardBook();
    book.post(deposit("a", 50), 0, 50);
    book.post(deposit("a", 50), 0);
    pay(book, "a", "b", 100, 0);
    expect([book.balance(b), book.held(b, 0)]).toEqual([90, 50]);
  });

  test("A13: each card payment keeps its release time, and the earliest one is spent first", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 70);
    book.post(deposit("a", 100), 0, 50);
    book.post(buildHoldPostings({ payerId: "a", taskId: "t", amount: micro(150) }), 0);
    expect(book.lots.get(accountOf.held("t"))).toEqual([
      { releaseAt: 50, amount: 100 },
      { releaseAt: 70, amount: 50 },
    ]);
    expect(book.lots.get(a)).toEqual([{ releaseAt: 70, amount: 50 }]);
  });

  test("A13: a reversed deposit takes its own card money, so that other money stays free", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    book.post(deposit("a", 30), 0);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0, 50);
    expect([book.balance(a), book.held(a, 0)]).toEqual([30, 0]);
    expect(book.post(withdrawal("a", 30), 0)).toBe(true);
  });

  test.each([
    ["already released", 40, 50],
    ["already spent", 10, 70],
  ])("A13: the reversal of a payment that is %s releases no other payment", (...given) => {
    const [, paidAt, otherUntil] = given;
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 20);
    if (paidAt < 20) pay(book, "a", "b", 100, paidAt);
    book.post(deposit("a", 100), paidAt, otherUntil);
    if (paidAt < 20) book.post(deposit("a", 100), paidAt);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), paidAt, 20);
    expect([book.balance(a), book.held(a, paidAt)]).toEqual([100, 100]);
    expect(book.post(withdrawal("a", 1), otherUntil - 1)).toBe(false);
  });

  test("A13: card money that repays a debt is no longer on the account", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", "b", 100, 0);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0);
    expect(book.balance(a)).toBe(-100);
    book.post(deposit("a", 120), 0, 60);
    expect([book.balance(a), book.held(a, 0)]).toEqual([20, 20]);
  });

  test("A13: card money keeps its release time at the payee when its payment was reversed during the hold", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    const task = { payerId: "a", taskId: "t" };
    book.post(buildHoldPostings({ ...task, amount: micro(100) }), 0);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0);
    const amounts = { locked: micro(100), charge: micro(80), fee: micro(0) };
    book.post(buildSettlementPostings({ ...task, payeeId: "b", ...amounts }), 0);
    expect([book.balance(a), book.held(a, 0)]).toEqual([-80, 0]);
    expect([book.balance(b), book.held(b, 0)]).toEqual([80, 80]);
  });

  /** Moves 100 of an agent away, and returns the postings that bring them back. */
  const moves = {
    "in a hold": (book: CardBook) => {
      const hold = { payerId: "a", taskId: "t", amount: micro(100) };
      expect(book.post(buildHoldPostings(hold), 0)).toBe(true);
      return buildReleasePostings(hold);
    },
    "in a pending withdrawal": (book: CardBook) => {
      expect(book.post(withdrawal("a", 100), 0)).toBe(true);
      return buildReturnPostings({ agentId: "a", withdrawalId: "w", amount: micro(100) });
    },
  };

  test.each(Object.entries(moves))(
    "A13: a payment that is reversed while other money is %s releases no other payment",
    (_, move) => {
      const book = new CardBook();
      book.post(deposit("a", 100), 0);
      book.post(deposit("a", 100), 0, 50);
      const back = move(book);
      book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0, 0);
      expect([book.balance(a), book.held(a, 0)]).toEqual([0, 0]);
      book.post(back, 10);
      expect([book.balance(a), book.held(a, 10)]).toEqual([100, 100]);
      expect(book.post(withdrawal("a", 1), 49)).toBe(false);
      expect(book.post(withdrawal("a", 100), 50)).toBe(true);
    },
  );

  test("A13: a payment that is reversed while its own money is held does not change the release time of the other payment", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    book.post(deposit("a", 100), 0, 70);
    const back = moves["in a hold"](book);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0, 50);
    book.post(back, 10);
    expect([book.balance(a), book.held(a, 50), book.held(a, 70)]).toEqual([100, 100, 0]);
  });

  test("A13: card money that is spent from a hold no longer delays other money", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0);
    book.post(deposit("a", 100), 0, 50);
    moves["in a hold"](book);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0, 0);
    const amounts = { locked: micro(100), charge: micro(100), fee: micro(0) };
    book.post(buildSettlementPostings({ payerId: "a", taskId: "t", payeeId: "b", ...amounts }), 10);
    book.post(deposit("a", 30), 10);
    expect([book.balance(a), book.held(a, 10)]).toEqual([30, 0]);
  });

  test("A13: card money keeps its release time on the account of a peer and at the agents that the peer pays", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    expect([book.balance(peer), book.waiting(peer, 0)]).toEqual([90, 90]);
    pay(book, PEER, "b", 90, 10);
    expect([book.waiting(peer, 10), book.held(b, 10)]).toEqual([0, 81]);
    expect(book.post(withdrawal("b", 1), 49)).toBe(false);
    expect(book.post(withdrawal("b", 81), 50)).toBe(true);
  });

  test.each([
    ["that never received any card money, also on credit", 0, 0, 60, 0],
    ["that received other money", 0, 100, 60, 0],
    ["whose other money covers the payment", 100, 100, 60, 0],
    ["whose other money covers a part", 100, 50, 80, 30],
    ["whose credit covers a part", 60, 0, 100, 54],
  ])(
    "A13: the money of a peer %s is withheld as far as it contains card money",
    (_, card, other, charge, heldAfter) => {
      const book = new CardBook();
      if (card > 0) {
        book.post(deposit("a", card), 0, 50);
        pay(book, "a", PEER, card, 0);
      }
      if (other > 0) book.post(buildClearing(-other), 0);
      pay(book, PEER, "b", charge, 0);
      expect([book.balance(b), book.held(b, 0)]).toEqual([(charge * 9) / 10, heldAfter]);
      expect(book.held(b, 50)).toBe(0);
    },
  );

  test("A13: card money on the account of a peer is withheld only until its release time", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    pay(book, PEER, "b", 40, 50);
    expect([book.held(b, 50), book.lots.get(peer)]).toEqual([0, []]);
    expect(book.post(withdrawal("b", 36), 50)).toBe(true);
  });

  test("A13: a peer's task that ends without payment returns card money to the peer", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    const hold = { payerId: PEER, taskId: "t", amount: micro(60) };
    book.post(buildHoldPostings(hold), 0);
    expect([book.waiting(peer, 0), book.waiting(accountOf.held("t"), 0)]).toEqual([30, 60]);
    book.post(buildReleasePostings(hold), 0);
    expect([book.waiting(peer, 0), book.waiting(accountOf.held("t"), 0)]).toEqual([90, 0]);
  });

  test("A13: card money keeps its release time at a peer's agent when its payment is reversed", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    book.post(buildReversalPostings({ agentId: "a", amount: micro(100) }), 0, 50);
    expect([book.balance(a), book.waiting(peer, 0)]).toEqual([-100, 90]);
    pay(book, PEER, "b", 90, 0);
    expect([book.balance(b), book.held(b, 49)]).toEqual([81, 81]);
  });

  test("A13: a payment to a peer outside of the relay also uses up card money", () => {
    const book = new CardBook();
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    expect(book.post(buildClearing(90), 0)).toBe(true);
    expect([book.balance(peer), book.waiting(peer, 0)]).toEqual([0, 0]);
    pay(book, PEER, "b", 50, 0);
    expect(book.held(b, 0)).toBe(0);
  });

  test("A13: card money that repays a peer's debt is withheld on the account that the peer pays it to next", () => {
    const book = new CardBook();
    pay(book, PEER, "b", 100, 0);
    expect(book.post(withdrawal("b", 90), 0)).toBe(true);
    book.post(deposit("a", 100), 0, 50);
    pay(book, "a", PEER, 100, 0);
    expect([book.balance(peer), book.waiting(peer, 0)]).toEqual([-10, 90]);
    pay(book, PEER, "b", 90, 0);
    expect([book.balance(b), book.held(b, 0)]).toEqual([81, 81]);
  });

  test.each([
    ["card money that waits", 100, 0, 100, 0, true],
    ["card money whose time has come", 100, 0, 100, 50, false],
    ["other money", 100, 100, 100, 0, false],
    ["other money and card money", 100, 50, 60, 0, true],
  ] as const)("C8: a hold of %s is known as such when it is settled or returned", (...given) => {
    const [, card, other, locked, at, movesCardMoney] = given;
    const book = new CardBook();
    book.post(deposit("a", card), 0, 50);
    if (other > 0) book.post(deposit("a", other), 0);
    const task = { payerId: "a", taskId: "t" };
    book.post(buildHoldPostings({ ...task, amount: micro(locked) }), 0);
    const amounts = { locked: micro(locked), charge: micro(locked), fee: micro(locked / 10) };
    const settled = buildSettlementPostings({ ...task, payeeId: "b", ...amounts });
    expect(book.move(settled, at)).toMatchObject({ ok: true, movesCardMoney });
    const returned = buildReleasePostings({ ...task, amount: micro(locked) });
    expect(book.move(returned, at)).toMatchObject({ ok: true, movesCardMoney });
  });

  test("A13: card money of many payments is withheld at most until the later of two neighbouring release times", () => {
    const book = new CardBook();
    for (let at = 1; at <= 2 * MAX_CARD_LOTS; at += 1) book.post(deposit("a", 1), 0, at * at);
    const lots = book.lots.get(a) ?? [];
    expect(lots).toHaveLength(MAX_CARD_LOTS);
    expect(book.held(a, 0)).toBe(2 * MAX_CARD_LOTS);
    for (let at = 1; at <= 2 * MAX_CARD_LOTS; at += 1) {
      expect(book.held(a, at * at)).toBeGreaterThanOrEqual(2 * MAX_CARD_LOTS - at);
    }
    expect(book.held(a, 4 * MAX_CARD_LOTS * MAX_CARD_LOTS)).toBe(0);
  });

  const minute = 60_000;
  const week = 10_080 * minute;
  test.each<[string, gap: (payment: number) => number]>([
    ["a payment each 10 minutes", () => 10 * minute],
    ["a payment each 2 hours and 30 minutes", () => 150 * minute],
    ["64 payments in a minute, and then one each hour", (at) => (at < 64 ? 1_000 : 60 * minute)],
    [
      "payments that come ever later, so that the oldest two are the closest",
      (at) => (60 * 60 + at) * 1_000,
    ],
    [
      "payments that come ever sooner, so that the newest two are the closest",
      (at) => (150 * 60 - at) * 1_000,
    ],
  ])("MN21: card money is withheld at most 1/32 longer than necessary, with %s", (_, gap) => {
    const book = new CardBook();
    const start = 1_760_000_000_000;
    const paid: { at: number; amount: number }[] = [];
    for (let at = start, payment = 0; at < start + 5 * week; at += gap(payment)) {
      const each = payment === 0 ? 1_000_000 : 1;
      book.post(deposit("a", each), at, at + week);
      paid.push({ at, amount: each });
      payment += 1;
      const sumSince = (since: number) =>
        paid.reduce((sum, { at: paidAt, amount: part }) => sum + (paidAt > since ? part : 0), 0);
      expect(book.held(a, at)).toBeGreaterThanOrEqual(sumSince(at - week));
      expect(book.held(a, at)).toBeLessThanOrEqual(sumSince(at - week - week / 32));
    }
  });
});

const agents = ["a", "b", "c"] as const;
const agent = fc.constantFrom(...agents);
const party = fc.constantFrom(...agents, PEER);
/** The amount that the peer may owe. */
const CREDIT = 500;
const amount = fc.integer({ min: 1, max: 1_000 });

const step = fc.oneof(
  fc.record({ do: fc.constant("deposit" as const), agent, amount }),
  fc.record({
    do: fc.constant("card" as const),
    agent,
    amount,
    holdFor: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ do: fc.constant("pay" as const), by: party, to: party, amount, spare: amount }),
  fc.record({ do: fc.constant("hold" as const), by: party, amount }),
  fc.record({ do: fc.constant("release" as const) }),
  fc.record({ do: fc.constant("settle" as const), to: party, share: fc.constantFrom(0.5, 1) }),
  fc.record({ do: fc.constant("withdraw" as const), agent, amount }),
  fc.record({ do: fc.constant("fail" as const) }),
  fc.record({ do: fc.constant("clear" as const), sent: fc.boolean(), amount }),
  fc.record({ do: fc.constant("reverse" as const), agent, amount }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Card money that is paid to a peer, sent to it by the operator early, and released afterwards. */
const PAID_EARLY: Step[] = [
  { do: "card", agent: "b", amount: 1, holdFor: 1 },
  { do: "pay", by: "b", to: PEER, amount: 1, spare: 1 },
  { do: "clear", sent: true, amount: 1 },
  { do: "wait", ms: 1 },
];

/** Runs steps and returns the deposits with their release times and the withdrawals. */
function run(steps: readonly Step[], feeShare: number) {
  const book = new CardBook();
  const came: { amount: number; releaseAt: number }[] = [];
  const open: { payerId: string; taskId: string; amount: Micro }[] = [];
  const leaving: { agentId: string; withdrawalId: string; amount: Micro }[] = [];
  let [now, ids, out] = [0, 0, 0];
  const afford = (id: string, wanted: number) => {
    const credit = id === PEER ? CREDIT : 0;
    return Math.max(0, Math.min(wanted, book.balance(accountOf.party(id)) + credit));
  };
  /** Returns the money of the peer that does not wait; negative where it owes. */
  const freeOfPeer = () => book.balance(peer) - book.waiting(peer, now);
  const released = () =>
    came.reduce((sum, lot) => sum + (lot.releaseAt <= now ? lot.amount : 0), 0);
  /** Returns what could be withdrawn now if every hold went to an agent first. */
  const free = () => {
    const outside = new Set(leaving.map(({ withdrawalId }) => accountOf.held(withdrawalId)));
    const inside = [...book.balances.keys()].filter(
      (account) => /^(agent|held):/.test(account) && !outside.has(account),
    );
    return inside.reduce(
      (sum, account) => sum + Math.max(0, book.balance(account)) - book.held(account, now),
      freeOfPeer(),
    );
  };
  const check = () => {
    for (const [account, lots] of book.lots) {
      const owned = book.balance(account) + (book.away.get(account) ?? 0);
      const waiting = lots.reduce((sum, lot) => sum + lot.amount, 0);
      // A peer's lots may exceed what it has, because its debt was repaid with card money.
      expect(waiting).toBeLessThanOrEqual(account === peer ? Infinity : Math.max(0, owned));
      expect(lots.length).toBeLessThanOrEqual(MAX_CARD_LOTS);
    }
    expect(free() + out).toBeLessThanOrEqual(released());
    // The money that is paid out early for the peer is bounded by its credit.
    expect(freeOfPeer()).toBeGreaterThanOrEqual(-CREDIT);
  };
  for (const each of steps) {
    ids += 1;
    const id = `${ids}`;
    if (each.do === "wait") now += each.ms;
    if (each.do === "deposit") {
      book.post(deposit(each.agent, each.amount), now);
      came.push({ amount: each.amount, releaseAt: now });
    }
    if (each.do === "card") {
      const releaseAt = now + each.holdFor;
      book.post(deposit(each.agent, each.amount), now, releaseAt);
      came.push({ amount: each.amount, releaseAt });
    }
    if (each.do === "pay") {
      const charge = afford(each.by, each.amount);
      const locked = micro(each.by === PEER ? charge : afford(each.by, charge + each.spare));
      const task = { payerId: each.by, taskId: id };
      book.post(buildHoldPostings({ ...task, amount: locked }), now);
      const fee = micro(Math.floor(charge * feeShare));
      const paid = { ...task, payeeId: each.to, locked, charge: micro(charge), fee };
      book.post(buildPayment(paid), now);
    }
    if (each.do === "hold") {
      const task = {
        payerId: each.by,
        taskId: id,
        amount: micro(afford(each.by, each.amount)),
      };
      book.post(buildHoldPostings(task), now);
      open.push(task);
    }
    const task = each.do === "release" ? open.pop() : undefined;
    if (task !== undefined) book.post(buildReleasePostings(task), now);
    const done = each.do === "settle" ? open.pop() : undefined;
    if (each.do === "settle" && done !== undefined) {
      const share = done.payerId === PEER ? 1 : each.share;
      const charge = Math.floor(done.amount * share);
      const fee = micro(Math.floor(charge * feeShare));
      const paid = { ...done, payeeId: each.to, locked: done.amount, charge: micro(charge), fee };
      book.post(buildPayment(paid), now);
    }
    if (each.do === "withdraw") {
      const leave = {
        agentId: each.agent,
        withdrawalId: id,
        amount: micro(afford(each.agent, each.amount)),
      };
      if (book.post(buildWithdrawalPostings(leave), now)) {
        out += leave.amount;
        leaving.push(leave);
      }
    }
    const back = each.do === "fail" ? leaving.pop() : undefined;
    if (back !== undefined) {
      book.post(buildReturnPostings(back), now);
      out -= back.amount;
    }
    if (each.do === "clear" && !each.sent) {
      book.post(buildClearing(-each.amount), now);
      came.push({ amount: each.amount, releaseAt: now });
    }
    if (each.do === "clear" && each.sent) {
      const [amountSent, before] = [afford(PEER, each.amount), book.waitingLots(peer, now)];
      book.post(buildClearing(amountSent), now);
      out += amountSent;
      // The operator may pay card money to a peer before its time, at its own risk. Such money counts
      // neither as paid out nor, when its time comes, as released.
      for (const lot of before) {
        const left = book
          .waitingLots(peer, now)
          .find(({ releaseAt }) => releaseAt === lot.releaseAt);
        const early = lot.amount - (left?.amount ?? 0);
        out -= early;
        came.push({ amount: -early, releaseAt: lot.releaseAt });
      }
    }
    if (each.do === "reverse") {
      book.post(buildReversalPostings({ agentId: each.agent, amount: micro(each.amount) }), now);
    }
    check();
  }
  return { free: free(), out, released: released() };
}

describe("A13: no sequence of payments", () => {
  test("A13: no sequence of payments releases card money early", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(0, 0.1), (steps, feeShare) => {
        run(steps, feeShare);
      }),
      { numRuns: 1_000 },
    );
  });

  test("A13: no hold that returns releases card money, whatever is paid or reversed meanwhile", () => {
    const change = fc.oneof(
      fc.record({
        do: fc.constant("pay in" as const),
        amount,
        holdFor: fc.integer({ min: 0, max: 40 }),
      }),
      fc.record({ do: fc.constant("take back" as const), which: fc.nat() }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20 }) }),
    );
    /** Plays changes, with a hold of a part of the balance in between or without. */
    const play = (
      before: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
      meanwhile: typeof before,
      share: number,
    ) => {
      const book = new CardBook();
      const paid: { amount: number; releaseAt: number }[] = [];
      let now = 0;
      const act = (each: (typeof before)[number]) => {
        if (each.do === "wait") return void (now += each.ms);
        if (each.do === "pay in") {
          const payment = { amount: each.amount, releaseAt: now + each.holdFor };
          book.post(deposit("a", payment.amount), now, payment.releaseAt);
          return void paid.push(payment);
        }
        const [taken] = paid.splice(each.which % Math.max(1, paid.length), 1);
        if (taken === undefined) return;
        const reversal = buildReversalPostings({ agentId: "a", amount: micro(taken.amount) });
        book.post(reversal, now, taken.releaseAt);
      };
      for (const each of before) act(each);
      const held = micro(Math.floor(Math.max(0, book.balance(a)) * share));
      const hold = { payerId: "a", taskId: "t", amount: held };
      book.post(buildHoldPostings(hold), now);
      for (const each of meanwhile) act(each);
      book.post(buildReleasePostings(hold), now);
      return { book, now, paid };
    };
    const changes = fc.array(change, { maxLength: 12 });
    fc.assert(
      fc.property(changes, changes, fc.double({ min: 0, max: 1, noNaN: true }), (...given) => {
        const [before, meanwhile, share] = given;
        const { book, now, paid } = play(before, meanwhile, share);
        const without = play(before, meanwhile, 0).book;
        expect(book.balance(a)).toBe(without.balance(a));
        for (let at = now; at <= now + 40; at += 1) {
          expect(book.held(a, at)).toBeGreaterThanOrEqual(without.held(a, at));
          const released = paid.reduce((sum, p) => sum + (p.releaseAt <= at ? p.amount : 0), 0);
          expect(book.balance(a) - book.held(a, at)).toBeLessThanOrEqual(released);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("A13: no sequence of payments without reversals blocks other money or released card money", () => {
    const calm = step.filter((each) => each.do !== "reverse");
    fc.assert(
      fc.property(fc.array(calm, { maxLength: 40 }), (steps) => {
        const { free, out, released } = run(steps, 0);
        expect(free + out).toBe(released);
      }),
      { numRuns: 1_000, examples: [[PAID_EARLY]] },
    );
  });
});
