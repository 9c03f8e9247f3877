import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  createParties,
  decide,
  giveVerdict,
  type Parties,
  passDeadline,
} from "../../../test/inspections.ts";
import { getTaskAt, submitAcceptedTask } from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
  await t.deposit(parties.boss, 20);
});
afterEach(() => t.close());

const figuresOf = async ({ agentId }: TestAgent) =>
  (await t.request("GET", `/api/v1/agents/${agentId}`, { token: await t.token(parties.boss) }))
    .body["inspections"];

test("agents show the outcomes of their cases, and a task shows those of its submitter", async () => {
  const { boss, worker, arbiter } = parties;
  await giveVerdict(t, await beginCase(t, parties), "accepted");
  const conceded = await beginCase(t, parties);
  await giveVerdict(t, conceded, "rejected");
  await giveVerdict(t, conceded, "conceded");
  await decide(t, await beginDispute(t, parties), 0.75);
  await decide(t, await beginDispute(t, parties), 0.25);
  await decide(t, await beginDispute(t, parties), 0.5);
  await giveVerdict(t, await beginDispute(t, parties), "accepted");
  await giveVerdict(t, await beginDispute(t, parties), "conceded");
  const passed = await beginDispute(t, parties);
  await passDeadline(t, passed);
  await passDeadline(t, passed);
  // Open cases do not count.
  await beginDispute(t, parties);

  const both = { closed: 8, rejected: 7 };
  const none = { closed: 0, rejected: 0, lost: 0 };
  const idle = { decided: 0, passed: 0 };
  expect(await figuresOf(boss)).toEqual({
    as_delegator: { ...both, lost: 2 },
    as_executor: none,
    as_arbiter: idle,
  });
  expect(await figuresOf(worker)).toEqual({
    as_delegator: none,
    as_executor: { ...both, lost: 2 },
    as_arbiter: idle,
  });
  expect(await figuresOf(arbiter)).toMatchObject({ as_arbiter: { decided: 3, passed: 1 } });
  const { path } = await submitAcceptedTask(t, boss, worker, { acceptance: {} });
  expect(await getTaskAt(t, path)).toMatchObject({ submitter_inspections: { ...both, lost: 2 } });
});
