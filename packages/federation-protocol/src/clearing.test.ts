import {
  accountOf,
  applyPostings,
  asMicro,
  FEES,
  isBalanced,
  type Micro,
  type Posting,
  WORLD,
} from "@agent/budget";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposureOf, judgeOutsidePayment, mayBeOwed, mayOwe } from "./clearing.ts";
import {
  inboundHold,
  inboundPaid,
  inboundPassed,
  inboundRelease,
  outboundPaid,
  outsidePayment,
  passedOn,
} from "./clearing-postings.ts";
import { leastPayment, termsOf } from "./fee.ts";

const line = (balance: number, limit: number, payable = 0) => ({
  balance: asMicro(balance),
  limit: asMicro(limit),
  payable: asMicro(payable),
});

describe("A credit limit", () => {
  it.each([
    [line(0, 10), 10, true],
    [line(0, 10), 11, false],
    [line(-4, 10), 6, true],
    [line(-4, 10), 7, false],
    [line(5, 10), 15, true],
    [line(5, 0), 5, true],
    [line(5, 0), 6, false],
    [line(-20, 10), 0, true],
  ])("of the account %o has room for %s more that the peer owes: %s", (account, amount, room) => {
    expect(mayBeOwed(account, asMicro(amount)).ok).toBe(room);
    expect(judgeOutsidePayment(account, { direction: "paid", amount: asMicro(amount) }).ok).toBe(
      room,
    );
  });

  it.each([
    [line(0, 10), 10, true],
    [line(0, 10), 11, false],
    [line(0, 10, 4), 6, true],
    [line(0, 10, 4), 7, false],
    [line(-5, 10), 15, true],
    [line(0, 0), 1, false],
    [line(0, 0), 0, true],
  ])(
    "of the account %o has room for %s more that is promised to the peer: %s",
    (account, amount, room) => {
      expect(mayOwe(account, asMicro(amount)).ok).toBe(room);
    },
  );

  it("never keeps money out that was received", () => {
    const payment = { direction: "received" as const, amount: asMicro(1_000) };
    expect(judgeOutsidePayment(line(0, 0), payment)).toEqual({ ok: true });
  });
});

const task = { peerId: "p", taskId: "t" };
const agentId = "w";
const balancesAfter = (...postings: readonly (readonly Posting[])[]) => {
  for (const movement of postings) expect(isBalanced(movement)).toBe(true);
  const after = applyPostings(new Map(), postings.flat());
  return Object.fromEntries([...after].filter(([, amount]) => amount !== 0));
};
const terms = termsOf(asMicro(950_000), 0.05);
const hold = inboundHold({ ...task, amount: terms.gross });
const funds = (amount: number): readonly Posting[] => [
  { account: accountOf.agent("d"), type: "deposit", amount: asMicro(amount) },
  { account: WORLD, type: "deposit", amount: asMicro(-amount) },
];

describe("Money between relays", () => {
  it("is owed by the peer from the moment that its task is taken", () => {
    const [first] = hold;
    expect(balancesAfter(hold)).toEqual({ "peer:p": -950_000, "held:t": 950_000 });
    expect(first && exposureOf({ balance: first.amount })).toBe(950_000);
  });

  it("is owed no more when the task comes to nothing", () => {
    expect(balancesAfter(hold, inboundRelease({ ...task, amount: terms.gross }))).toEqual({});
  });

  it.each([true, false])(
    "goes to the agent and the relay's fees when it is settled, held: %s",
    (held) => {
      const paid = inboundPaid({ ...task, agentId, terms, held });
      expect(balancesAfter(...(held ? [hold] : []), paid)).toEqual({
        "peer:p": -950_000,
        "agent:w": 902_500,
        [FEES]: 47_500,
      });
    },
  );

  it.each([true, false])(
    "is owed on by a relay in the middle once it was confirmed, held: %s",
    (held) => {
      const passed = inboundPassed({ ...task, terms, held });
      const before = held ? [hold] : [];
      expect(balancesAfter(...before, passed)["held:t"]).toBe(902_500);
      const on = passedOn({ peerId: "q", taskId: "t", amount: terms.net });
      expect(balancesAfter(...before, passed, on)).toEqual({
        "peer:p": -950_000,
        "peer:q": 902_500,
        [FEES]: 47_500,
      });
    },
  );

  it("leaves the payer's hold when the peer has confirmed it", () => {
    const own = termsOf(asMicro(1_000_000), 0.05);
    const locked: Micro = asMicro(1_200_000);
    const lock: readonly Posting[] = [
      { account: accountOf.agent("d"), type: "allocation_hold", amount: asMicro(-1_200_000) },
      { account: accountOf.held("t"), type: "allocation_hold", amount: locked },
    ];
    const paid = outboundPaid({ ...task, payerId: "d", locked, terms: own });
    expect(balancesAfter(funds(2_000_000), lock, paid)).toEqual({
      world: -2_000_000,
      "agent:d": 1_000_000,
      "peer:p": 950_000,
      [FEES]: 50_000,
    });
  });

  it("is paid outside against the world", () => {
    const amount = asMicro(5);
    expect(balancesAfter(outsidePayment({ peerId: "p", direction: "paid", amount }))).toEqual({
      "peer:p": -5,
      world: 5,
    });
    expect(balancesAfter(outsidePayment({ peerId: "p", direction: "received", amount }))).toEqual({
      "peer:p": 5,
      world: -5,
    });
  });

  it("is the same amount in the books of both relays, whatever the rates", () => {
    const rate = fc.constantFrom(0, 0.05, 0.1, 0.333, 0.99);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), rate, rate, (gross, ours, theirs) => {
        const sent = termsOf(asMicro(gross), ours);
        const received = termsOf(sent.net, theirs);
        const payer = balancesAfter(
          outboundPaid({ ...task, payerId: "d", locked: sent.gross, terms: sent }),
        );
        const payee = balancesAfter(
          inboundHold({ ...task, amount: received.gross }),
          inboundPaid({ ...task, agentId, terms: received, held: true }),
        );
        expect((payer["peer:p"] ?? 0) + (payee["peer:p"] ?? 0)).toBe(0);
        expect(payee["held:t"]).toBeUndefined();
      }),
    );
  });
});

it("A relay is paid at least the price less the fees of the relays before it", () => {
  const price = asMicro(1_000_000);
  expect([0, 1, 2, 3, 4].map((hops) => leastPayment(price, 0.05, hops))).toEqual([
    950_000, 950_000, 902_500, 857_375, 857_375,
  ]);
});

describe("A9: what a peer has defaulted on", () => {
  const line = { balance: asMicro(0), limit: asMicro(1_000_000), defaulted: asMicro(950_000) };

  it("counts as owed, so that its credit shrinks by it", () => {
    expect(exposureOf(line)).toBe(950_000);
    expect(mayBeOwed(line, asMicro(50_000))).toEqual({ ok: true });
    expect(mayBeOwed(line, asMicro(50_001))).toMatchObject({ code: "clearing.limit_exceeded" });
    expect(mayBeOwed({ ...line, defaulted: asMicro(0) }, asMicro(50_001))).toEqual({ ok: true });
  });

  it("keeps no free task away", () => {
    expect(mayBeOwed({ ...line, limit: asMicro(0) }, asMicro(0))).toEqual({ ok: true });
  });
});
