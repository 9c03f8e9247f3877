import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReceipt } from "@agent/testkit";
import {
  beginCase,
  beginDispute,
  createParties,
  decide,
  getCase,
  giveVerdict,
  passDeadline,
  type Case,
  type Parties,
  ruleAsOperator,
  submitInspected,
} from "../../test/inspections.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

/** Returns the balances of submitter, executor and arbiter, and what the first two hold. */
async function getMoney() {
  const accounts = await Promise.all(
    [parties.boss, parties.worker, parties.arbiter].map(({ agentId }) =>
      t.asOperator("GET", `/api/v1/agents/${agentId}/balance`),
    ),
  );
  return accounts.map(({ body }) => [body["balance"], body["pending_allocations"]].join(" "));
}

describe("the money of an inspected task", () => {
  test("the money of an inspected task is held from the submission, and what is not due returns with the receipt", async () => {
    const submitted = await submitInspected(t, parties);
    expect(await getMoney()).toEqual(["7.6 2.4", "1 0", "0 0"]);
    await t.as(
      parties.worker,
      "POST",
      `${submitted.task.path}/result`,
      createReceipt(parties.worker, submitted.task),
    );
    expect(await getMoney()).toEqual(["7.9 2.1", "1 0", "0 0"]);
    await expectConsistentBooks(t);
  });

  type End = (given: Case) => Promise<unknown>;
  const dispute = (offer?: number) =>
    beginDispute(t, parties, offer === undefined ? {} : { offer });
  const begin = () => beginCase(t, parties);
  const reject = async (offer?: number) => {
    const given = await begin();
    await giveVerdict(t, given, "rejected", offer === undefined ? {} : { offer });
    return given;
  };

  test.each<[string, () => Promise<Case>, End, string, number, string, string, string]>([
    ["accepted", begin, (c) => giveVerdict(t, c, "accepted"), "accepted", 1, "8", "2.9", "0"],
    ["left alone", begin, (c) => passDeadline(t, c), "lapsed", 1, "8", "2.9", "0"],
    [
      "rejected and accepted",
      reject,
      (c) => giveVerdict(t, c, "accepted"),
      "accepted",
      1,
      "8",
      "2.9",
      "0",
    ],
    ["conceded", reject, (c) => giveVerdict(t, c, "conceded"), "conceded", 0, "10", "1", "0"],
    [
      "conceded for an offer",
      () => reject(0.5),
      (c) => giveVerdict(t, c, "conceded"),
      "conceded",
      0.5,
      "9",
      "1.95",
      "0",
    ],
    [
      "not answered",
      () => reject(0.5),
      (c) => passDeadline(t, c),
      "unanswered",
      0.5,
      "9",
      "1.95",
      "0",
    ],
    [
      "decided above the middle",
      dispute,
      (c) => decide(t, c, 0.75),
      "decided",
      0.75,
      "8.4",
      "2.425",
      "0.1",
    ],
    [
      "decided below the middle",
      dispute,
      (c) => decide(t, c, 0.25),
      "decided",
      0.25,
      "9.5",
      "1.375",
      "0.1",
    ],
    [
      "decided at the middle",
      dispute,
      (c) => decide(t, c, 0.5),
      "decided",
      0.5,
      "8.95",
      "1.9",
      "0.1",
    ],
    [
      "decided below an offer's middle",
      () => dispute(0.5),
      (c) => decide(t, c, 0.6),
      "decided",
      0.6,
      "8.8",
      "2.04",
      "0.1",
    ],
    [
      "accepted once contested",
      dispute,
      (c) => giveVerdict(t, c, "accepted"),
      "accepted",
      1,
      "7.95",
      "2.9",
      "0.05",
    ],
    [
      "conceded once contested",
      dispute,
      (c) => giveVerdict(t, c, "conceded"),
      "conceded",
      0,
      "10",
      "0.95",
      "0.05",
    ],
    [
      "not decided by arbiter and operator",
      dispute,
      async (c) => {
        await passDeadline(t, c);
        await passDeadline(t, c);
      },
      "undecided",
      0.5,
      "9",
      "1.95",
      "0",
    ],
    [
      "decided by the operator after the arbiter",
      dispute,
      async (c) => {
        await passDeadline(t, c);
        await ruleAsOperator(t, c, 0.25);
      },
      "decided",
      0.25,
      "9.5",
      "1.375",
      "0",
    ],
  ])(
    "the money of an inspected task is paid according to the share of a case that is %s",
    async (_, open, end, outcome, share, boss, worker, arbiter) => {
      const given = await open();
      await end(given);
      const closed = await getCase(t, given);
      expect(closed).toMatchObject({
        state: "closed",
        deadline: null,
        outcome: { outcome, share },
      });
      expect(await getMoney()).toEqual([`${boss} 0`, `${worker} 0`, `${arbiter} 0`]);
      await expectConsistentBooks(t, { holds: 0 });
    },
  );
});
