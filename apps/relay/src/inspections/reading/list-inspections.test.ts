import type { Inspection } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  createParties,
  giveVerdict,
  putOffer,
  ruleAsOperator,
} from "../../../test/inspections.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

/** Lists the states of all inspections as the operator. */
async function listStates(query = ""): Promise<string[]> {
  const { body } = await t.asOperator("GET", `/api/v1/admin/inspections${query}`);
  return (body["inspections"] as Inspection[]).map(({ state }) => state);
}

const countPending = async () =>
  (await t.asOperator("GET", "/api/v1/admin/overview")).body["disputes_pending"];

test("the operator sees the inspections of all tasks, the newest first, and by state", async () => {
  const parties = await createParties(t);
  await giveVerdict(t, await beginCase(t, parties), "accepted");
  await t.clock.advance(1);
  await giveVerdict(t, await beginCase(t, parties), "rejected");
  await t.clock.advance(1);
  await beginDispute(t, await createParties(t));
  await t.clock.advance(1);
  await beginCase(t, parties);
  expect(await listStates()).toEqual(["inspecting", "disputed", "rejected", "closed"]);
  expect(await listStates("?state=closed")).toEqual(["closed"]);
  expect(await listStates("?state=disputed")).toEqual(["disputed"]);
  const { status } = await t.as(parties.boss, "GET", "/api/v1/admin/inspections");
  expect(status).toBe(403);
});

test("the overview includes the money that inspections hold, so that none is missing", async () => {
  const getMoney = async () =>
    (await t.asOperator("GET", "/api/v1/admin/overview")).body["money"] as Record<string, number>;
  const sumParts = async () => {
    const { balances = 0, held = 0, inspected = 0, fees_total = 0 } = await getMoney();
    return Math.round((balances + held + inspected + fees_total) * 1e6) / 1e6;
  };
  const parties = await createParties(t);
  const deposited = await sumParts();
  const given = await beginDispute(t, parties, { named: false });
  const { inspected } = await getMoney();
  // 2 USD are due, and both sides hold the fee of 0.1 USD.
  expect(inspected).toBe(2.2);
  expect(await sumParts()).toBe(deposited);
  await ruleAsOperator(t, given, 0.5);
  expect(await getMoney()).toMatchObject({ inspected: 0 });
  expect(await sumParts()).toBe(deposited);
});

test("the overview counts the disputes that the operator must decide, and no others", async () => {
  await beginDispute(t, await createParties(t));
  expect(await countPending()).toBe(0);
  const own = await beginDispute(t, await createParties(t), { named: false });
  expect(await countPending()).toBe(1);
  await ruleAsOperator(t, own, 0.5);
  expect(await countPending()).toBe(0);
});

test("IS29: disputes about negligible sums are listed after one of two dollars, and each is on one page", async () => {
  const parties = await createParties(t);
  const dispute = async (price: number) => {
    await putOffer(t, parties.worker, { price });
    const { task } = await beginDispute(t, parties, { named: false });
    await t.clock.advance(1);
    return task.task_id;
  };
  const worthless = [await dispute(0.000001), await dispute(0.000001), await dispute(0.000001)];
  const half = [await dispute(0.5), await dispute(0.5)];
  const large = await dispute(2);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = `?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { status, body } = await t.asOperator("GET", `/api/v1/admin/disputes${query}`);
    expect(status).toBe(200);
    seen.push(...(body["inspections"] as Inspection[]).map(({ task_id }) => task_id));
    cursor = body["next_cursor"] as string | null;
  }
  expect(seen).toEqual([large, ...half, ...worthless]);
});

test("the cursor of another list of inspections is refused for the list of disputes", async () => {
  const parties = await createParties(t);
  await beginCase(t, parties);
  const { body } = await t.asOperator("GET", "/api/v1/admin/inspections?limit=1");
  const cursor = String(body["next_cursor"]);
  const { status } = await t.asOperator("GET", `/api/v1/admin/disputes?cursor=${cursor}`);
  expect(status).toBe(400);
});
