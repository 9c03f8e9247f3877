import { expect, test } from "vitest";
import { accountOf, FEE_ACCOUNT } from "./account.ts";
import { buildRetentionPostings } from "./retention-postings.ts";
import { asMicro } from "./money.ts";
import {
  applyPostings,
  buildHoldPostings,
  isBalanced,
  buildSettlementPostings,
} from "./posting.ts";

test("the account of a party is that of an agent or the clearing account of a relay", () => {
  expect(accountOf.party("ann")).toBe("agent:ann");
  expect(accountOf.party("relay:b")).toBe(accountOf.peer("b"));
});

test("another relay pays for a task from its clearing account like an agent from its own", () => {
  const [amount, fee] = [asMicro(950_000), asMicro(47_500)];
  const after = applyPostings(new Map(), [
    ...buildHoldPostings({ payerId: "relay:a", taskId: "t", amount }),
    ...buildSettlementPostings({
      payerId: "relay:a",
      payeeId: "bob",
      taskId: "t",
      locked: amount,
      charge: amount,
      fee,
    }),
  ]);
  expect(after.get(accountOf.peer("a"))).toBe(-950_000);
  expect([after.get(accountOf.agent("bob")), after.get(FEE_ACCOUNT)]).toEqual([902_500, 47_500]);
});

test("an intermediate relay retains a payment that it cannot forward, without postings on peer accounts", () => {
  const postings = buildRetentionPostings({ taskId: "t", amount: asMicro(902_500) });
  expect(isBalanced(postings)).toBe(true);
  expect(postings.map(({ account }) => account)).toEqual([accountOf.held("t"), FEE_ACCOUNT]);
  expect(buildRetentionPostings({ taskId: "t", amount: asMicro(0) })).toEqual([]);
  expect(() => buildRetentionPostings({ taskId: "t", amount: asMicro(-1) })).toThrow(RangeError);
});
