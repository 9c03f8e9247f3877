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

test("A party is an agent, or another relay by its clearing account", () => {
  expect(accountOf.party("ann")).toBe("agent:ann");
  expect(accountOf.party("relay:b")).toBe(accountOf.peer("b"));
});

test("Another relay pays for a task by its clearing account, as an agent by its own", () => {
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

test("What a relay in the middle cannot pay on it keeps, and no peer's account moves", () => {
  const postings = buildRetentionPostings({ taskId: "t", amount: asMicro(902_500) });
  expect(isBalanced(postings)).toBe(true);
  expect(postings.map(({ account }) => account)).toEqual([accountOf.held("t"), FEE_ACCOUNT]);
  expect(buildRetentionPostings({ taskId: "t", amount: asMicro(0) })).toEqual([]);
  expect(() => buildRetentionPostings({ taskId: "t", amount: asMicro(-1) })).toThrow(RangeError);
});
