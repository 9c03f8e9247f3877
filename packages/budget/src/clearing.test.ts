import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accountOf, FEES, WORLD, type Account } from "./account.ts";
import {
  outsidePaymentPostings,
  passOnFeePostings,
  passOnPostings,
  unpassedPostings,
} from "./clearing.ts";
import { splitFee } from "./fee.ts";
import { asMicro, type Micro } from "./money.ts";
import { applyPostings, holdPostings, isBalanced, settlementPostings } from "./posting.ts";

const none = new Map<Account, Micro>();
const amounts = fc.integer({ min: 1, max: 1_000_000_000 }).map(asMicro);

test("A party is an agent, or another relay by its clearing account", () => {
  expect(accountOf.party("ann")).toBe("agent:ann");
  expect(accountOf.party("relay:b")).toBe(accountOf.peer("b"));
});

describe("What relays owe each other", () => {
  test("is the same amount on both books, with the fees of both (1.00 -> 0.05, 0.0475, 0.9025)", () => {
    const charge = asMicro(1_000_000);
    const [own, next] = [splitFee(charge, 0.05), splitFee(asMicro(950_000), 0.05)];
    const origin = applyPostings(
      none,
      settlementPostings({
        payerId: "ann",
        payeeId: "relay:b",
        taskId: "t",
        locked: charge,
        charge,
        fee: own.fee,
      }),
    );
    const worker = applyPostings(none, [
      ...holdPostings({ payerId: "relay:a", taskId: "t", amount: own.net }),
      ...settlementPostings({
        payerId: "relay:a",
        payeeId: "bob",
        taskId: "t",
        locked: own.net,
        charge: own.net,
        fee: next.fee,
      }),
    ]);
    expect(origin.get(accountOf.peer("b"))).toBe(950_000);
    expect(worker.get(accountOf.peer("a"))).toBe(-950_000);
    expect([origin.get(FEES), worker.get(FEES), worker.get(accountOf.agent("bob"))]).toEqual([
      50_000, 47_500, 902_500,
    ]);
  });

  test("a middle relay takes its fee when it is paid, and owes the rest when it has paid on", () => {
    fc.assert(
      fc.property(amounts, fc.boolean(), (budget, reachesNext) => {
        const { fee, net } = splitFee(budget, 0.05);
        const postings = [
          ...holdPostings({ payerId: "relay:a", taskId: "t", amount: budget }),
          ...passOnFeePostings({ taskId: "t", fee }),
          ...(reachesNext
            ? passOnPostings({ taskId: "t", relayId: "c", amount: net })
            : unpassedPostings({ taskId: "t", amount: net })),
        ];
        const after = applyPostings(none, postings);
        expect(isBalanced(postings)).toBe(true);
        expect(after.get(accountOf.held("t"))).toBe(0);
        expect(after.get(accountOf.peer("a"))).toBe(0 - budget);
        expect(after.get(accountOf.peer("c")) ?? 0).toBe(reachesNext ? net : 0);
      }),
    );
  });

  test.each([
    ["sent", 1_000_000, 0],
    ["received", -1_000_000, 0],
  ] as const)("is paid outside: %s", (direction, before, after) => {
    const paid = outsidePaymentPostings({ relayId: "b", direction, amount: asMicro(1_000_000) });
    const balances = applyPostings(new Map([[accountOf.peer("b"), asMicro(before)]]), paid);
    expect(balances.get(accountOf.peer("b"))).toBe(after);
    expect(balances.get(WORLD)).toBe(before);
  });

  test("an amount below 0 is a fault of the program", () => {
    expect(() =>
      outsidePaymentPostings({ relayId: "b", direction: "sent", amount: asMicro(-1) }),
    ).toThrow(RangeError);
  });
});
