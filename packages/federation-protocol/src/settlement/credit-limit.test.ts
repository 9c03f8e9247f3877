import {
  accountOf,
  applyPostings,
  asMicro,
  FEE_ACCOUNT,
  isBalanced,
  type Micro,
  type Posting,
  EXTERNAL_ACCOUNT,
} from "@agent/budget";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  getExposure,
  checkExternalPayment,
  checkReceivable,
  isLimitPassed,
  checkPayable,
} from "./credit-limit.ts";
import {
  buildInboundHold,
  buildInboundPayment,
  buildInboundForwarding,
  buildInboundRelease,
  buildOutboundPayment,
  buildExternalPayment,
  buildForwardedPayment,
} from "./peer-postings.ts";
import { computeMinPayment, computeTerms } from "./settlement-terms.ts";

const line = (balance: number, limit: number, payable = 0) => ({
  balance: asMicro(balance),
  limit: asMicro(limit),
  payable: asMicro(payable),
});

describe("A credit limit", () => {
  it.each([
    [{ refused: 10, added: 10, limit: 10 }, false],
    [{ refused: 11, added: 1, limit: 10 }, true],
    [{ refused: 30, added: 25, limit: 10 }, true],
    [{ refused: 12, added: 1, limit: 10 }, false],
    [{ refused: 1, added: 1, limit: 0 }, true],
  ])("the refused results %o have just exceeded the credit limit: %s", (sums, isPassed) => {
    expect(isLimitPassed(sums)).toBe(isPassed);
  });

  it.each([
    [line(0, 10), 10, true],
    [line(0, 10), 11, false],
    [line(-4, 10), 6, true],
    [line(-4, 10), 7, false],
    [line(5, 10), 15, true],
    [line(5, 0), 5, true],
    [line(5, 0), 6, false],
    [line(-20, 10), 0, true],
    [{ ...line(0, 10), undecided: asMicro(4) }, 6, true],
    [{ ...line(0, 10), undecided: asMicro(4) }, 7, false],
    [{ ...line(-3, 10), undecided: asMicro(4), defaulted: asMicro(3) }, 1, false],
    [{ ...line(0, 10), refused: asMicro(10) }, 10, true],
    [{ ...line(0, 10), refused: asMicro(14) }, 6, true],
    [{ ...line(0, 10), refused: asMicro(14) }, 7, false],
    [{ ...line(0, 0), refused: asMicro(1) }, 0, true],
  ])(
    "the credit limit of the account %o allows %s more that the peer owes: %s",
    (account, amount, room) => {
      expect(checkReceivable(account, asMicro(amount)).ok).toBe(room);
      expect(checkExternalPayment(account, { direction: "paid", amount: asMicro(amount) }).ok).toBe(
        room,
      );
    },
  );

  it.each([
    [line(0, 10), 10, true],
    [line(0, 10), 11, false],
    [line(0, 10, 4), 6, true],
    [line(0, 10, 4), 7, false],
    [line(-5, 10), 15, true],
    [line(0, 0), 1, false],
    [line(0, 0), 0, true],
  ])(
    "the credit limit of the account %o allows %s more that is promised to the peer: %s",
    (account, amount, room) => {
      expect(checkPayable(account, asMicro(amount)).ok).toBe(room);
    },
  );

  it("a credit limit never refuses received money", () => {
    const payment = { direction: "received" as const, amount: asMicro(1_000) };
    expect(checkExternalPayment(line(0, 0), payment)).toEqual({ ok: true });
  });
});

const task = { peerId: "p", taskId: "t" };
const agentId = "w";
const balancesAfter = (...postings: readonly (readonly Posting[])[]) => {
  for (const movement of postings) expect(isBalanced(movement)).toBe(true);
  const after = applyPostings(new Map(), postings.flat());
  return Object.fromEntries([...after].filter(([, amount]) => amount !== 0));
};
const terms = computeTerms(asMicro(950_000), 0.05);
const hold = buildInboundHold({ ...task, amount: terms.gross });
const funds = (amount: number): readonly Posting[] => [
  { account: accountOf.agent("d"), type: "deposit", amount: asMicro(amount) },
  { account: EXTERNAL_ACCOUNT, type: "deposit", amount: asMicro(-amount) },
];

describe("Money between relays", () => {
  it("a peer owes money from the moment that its task is accepted", () => {
    const [first] = hold;
    expect(balancesAfter(hold)).toEqual({ "peer:p": -950_000, "held:t": 950_000 });
    expect(first && getExposure({ balance: first.amount })).toBe(950_000);
  });

  it("money for a task is not owed any more if the task ends without payment", () => {
    expect(balancesAfter(hold, buildInboundRelease({ ...task, amount: terms.gross }))).toEqual({});
  });

  it.each([true, false])(
    "the paid money goes to the agent and the relay's fees at the settlement, held: %s",
    (held) => {
      const paid = buildInboundPayment({ ...task, agentId, terms, held });
      expect(balancesAfter(...(held ? [hold] : []), paid)).toEqual({
        "peer:p": -950_000,
        "agent:w": 902_500,
        [FEE_ACCOUNT]: 47_500,
      });
    },
  );

  it.each([true, false])(
    "an intermediate relay owes money to the next one once it is confirmed, held: %s",
    (held) => {
      const passed = buildInboundForwarding({ ...task, terms, held });
      const before = held ? [hold] : [];
      expect(balancesAfter(...before, passed)["held:t"]).toBe(902_500);
      const on = buildForwardedPayment({ peerId: "q", taskId: "t", amount: terms.net });
      expect(balancesAfter(...before, passed, on)).toEqual({
        "peer:p": -950_000,
        "peer:q": 902_500,
        [FEE_ACCOUNT]: 47_500,
      });
    },
  );

  it("money leaves the payer's hold when the peer has confirmed it", () => {
    const own = computeTerms(asMicro(1_000_000), 0.05);
    const locked: Micro = asMicro(1_200_000);
    const lock: readonly Posting[] = [
      { account: accountOf.agent("d"), type: "allocation_hold", amount: asMicro(-1_200_000) },
      { account: accountOf.held("t"), type: "allocation_hold", amount: locked },
    ];
    const paid = buildOutboundPayment({ ...task, payerId: "d", locked, terms: own });
    expect(balancesAfter(funds(2_000_000), lock, paid)).toEqual({
      world: -2_000_000,
      "agent:d": 1_000_000,
      "peer:p": 950_000,
      [FEE_ACCOUNT]: 50_000,
    });
  });

  it("money that is paid externally is posted against the account of the world", () => {
    const amount = asMicro(5);
    expect(balancesAfter(buildExternalPayment({ peerId: "p", direction: "paid", amount }))).toEqual(
      {
        "peer:p": -5,
        world: 5,
      },
    );
    expect(
      balancesAfter(buildExternalPayment({ peerId: "p", direction: "received", amount })),
    ).toEqual({
      "peer:p": 5,
      world: -5,
    });
  });

  it("the amount of a settlement is the same in the books of both relays at any rates", () => {
    const rate = fc.constantFrom(0, 0.05, 0.1, 0.333, 0.99);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), rate, rate, (gross, ours, theirs) => {
        const sent = computeTerms(asMicro(gross), ours);
        const received = computeTerms(sent.net, theirs);
        const payer = balancesAfter(
          buildOutboundPayment({ ...task, payerId: "d", locked: sent.gross, terms: sent }),
        );
        const payee = balancesAfter(
          buildInboundHold({ ...task, amount: received.gross }),
          buildInboundPayment({ ...task, agentId, terms: received, held: true }),
        );
        expect((payer["peer:p"] ?? 0) + (payee["peer:p"] ?? 0)).toBe(0);
        expect(payee["held:t"]).toBeUndefined();
      }),
    );
  });
});

it("a relay's least payment is the price less the fees of the earlier relays", () => {
  const price = asMicro(1_000_000);
  expect([0, 1, 2, 3, 4].map((hops) => computeMinPayment(price, 0.05, hops))).toEqual([
    950_000, 950_000, 902_500, 857_375, 857_375,
  ]);
});

describe("A9: an amount on which a peer has defaulted", () => {
  const line = { balance: asMicro(0), limit: asMicro(1_000_000), defaulted: asMicro(950_000) };

  it("an amount on which a peer has defaulted counts as owed and so reduces the peer's credit", () => {
    expect(getExposure(line)).toBe(950_000);
    expect(checkReceivable(line, asMicro(50_000))).toEqual({ ok: true });
    expect(checkReceivable(line, asMicro(50_001))).toMatchObject({
      code: "clearing.limit_exceeded",
    });
    expect(checkReceivable({ ...line, defaulted: asMicro(0) }, asMicro(50_001))).toEqual({
      ok: true,
    });
  });

  it("an amount on which a peer has defaulted does not prevent free tasks", () => {
    expect(checkReceivable({ ...line, limit: asMicro(0) }, asMicro(0))).toEqual({ ok: true });
  });
});
