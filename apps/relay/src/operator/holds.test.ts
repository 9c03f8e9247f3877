import { toMicro } from "@agent/budget";
import type { Hold } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  createParties,
  decide,
  deliver,
  getCase,
  giveVerdict,
  submitInspected,
  type Parties,
} from "../../test/inspections.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

async function listPage(query = ""): Promise<{ holds: Hold[]; next: string | null }> {
  const { status, body } = await t.asOperator("GET", `/api/v1/admin/holds?${query}`);
  expect(status).toBe(200);
  return { holds: body["holds"] as Hold[], next: body["next_cursor"] as string | null };
}

/** Returns the purpose and owner of each hold, and expects their sum to be that in the overview. */
async function listPurposes(): Promise<(readonly [state: string, owner: string])[]> {
  const { holds } = await listPage();
  const { body } = await t.asOperator("GET", "/api/v1/admin/overview");
  const { held, inspected } = body["money"] as { held: number; inspected: number };
  const sum = holds.reduce((total, { amount }) => total + toMicro(amount), 0);
  expect(sum).toBe(toMicro(held) + toMicro(inspected));
  const names = new Map([
    [parties.boss.agentId, "boss"],
    [parties.worker.agentId, "worker"],
  ]);
  return holds.map(({ state, payer_id }) => [state, names.get(payer_id) ?? payer_id]);
}

test("the list of holds shows all money that is held, from the submission to the decision of a dispute", async () => {
  expect(await listPurposes()).toEqual([]);
  const submitted = await submitInspected(t, parties, { arbiter_id: parties.arbiter.agentId });
  expect(await listPurposes()).toEqual([["open", "boss"]]);
  const given = await deliver(t, submitted);
  expect(await listPurposes()).toEqual([["inspected", "boss"]]);
  await giveVerdict(t, given, "rejected");
  expect(await listPurposes()).toEqual([["inspected", "boss"]]);
  await giveVerdict(t, given, "contested");
  expect(await listPurposes()).toEqual([
    ["bond", "worker"],
    ["inspected", "boss"],
  ]);
  await decide(t, given, 0.5);
  expect(await listPurposes()).toEqual([]);
});

test("the hold of an inspection ends with its deadline, even in the report of its task", async () => {
  const since = t.clock.now();
  const given = await beginCase(t, parties);
  const { deadline, due, fee } = await getCase(t, given);
  const expected = {
    task_id: given.task.task_id,
    payer_id: parties.boss.agentId,
    amount: due + fee,
    since,
    until: deadline,
    state: "inspected",
  };
  expect((await listPage()).holds).toEqual([expected]);
  const { body } = await t.asOperator("GET", `/api/v1/admin/tasks/${given.task.task_id}`);
  expect(body["hold"]).toEqual(expected);
});

test("both holds of a dispute are listed when each is on a page of its own", async () => {
  const given = await beginCase(t, parties, { arbiter_id: parties.arbiter.agentId });
  await giveVerdict(t, given, "rejected");
  await giveVerdict(t, given, "contested");
  const first = await listPage("limit=1");
  const second = await listPage(`limit=1&cursor=${first.next}`);
  expect([first, second].map(({ holds }) => holds.map(({ state }) => state))).toEqual([
    ["bond"],
    ["inspected"],
  ]);
});

test("a hold that is younger than the requested age is not listed, whatever its purpose", async () => {
  await beginCase(t, parties);
  await t.clock.advance(1_000);
  expect((await listPage("older_than=1000")).holds).toHaveLength(1);
  expect((await listPage("older_than=1001")).holds).toEqual([]);
});
