import { verifyArtifact } from "@agent/verify";
import { afterEach, expect, test } from "vitest";
import {
  beginCase,
  createParties,
  decide,
  getCase,
  giveVerdict,
  putOffer,
} from "../../test/inspections.ts";
import { expectConsistentBooks, getTaskAt } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const DAY_MS = 86_400_000;
const LONGEST_WINDOW_MS = 14 * DAY_MS;

let t: TestRelay;
afterEach(() => t.close());

test("IS31: the evidence of an inspected task is kept for the days of retention after its close", async () => {
  t = await startTestRelay({
    AGENT_RETENTION_DAYS: "1",
    AGENT_DISPUTE_ANSWER_MS: "864000000",
  });
  const given = await beginCase(t, await createParties(t));
  await giveVerdict(t, given, "rejected");
  const pass = async (ms: number) => {
    await t.clock.advance(ms);
    await t.relay.tick();
  };
  await pass(3 * DAY_MS);
  expect(await getTaskAt(t, given.task.path)).toMatchObject({ status: "completed" });
  await giveVerdict(t, given, "accepted");
  await pass(DAY_MS - 60_000);
  const evidence = await t.as(given.boss, "GET", `${given.task.path}/evidence`);
  expect(verifyArtifact(evidence.text)).toMatchObject({ kind: "bundle", valid: true });
  expect(evidence.body["inspection"]).toMatchObject({ outcome: { outcome: "accepted" } });
  await pass(60_000);
  expect((await t.asOperator("GET", given.task.path)).status).toBe(404);
  const listed = await t.as(given.boss, "GET", `/api/v1/agents/${given.boss.agentId}/inspections`);
  expect(listed.body["inspections"]).toHaveLength(1);
  await expectConsistentBooks(t, { holds: 0 });
});

test("IS31: by default, both parties can prove, and the arbiter can read, the outcome of the longest case", async () => {
  t = await startTestRelay();
  const parties = await createParties(t);
  await putOffer(t, parties.worker, {
    window_ms: LONGEST_WINDOW_MS,
    arbiters: [parties.arbiter.agentId],
  });
  const given = await beginCase(t, parties, { arbiter_id: parties.arbiter.agentId });
  const waitUntilLast = async () => {
    const { deadline } = await getCase(t, given);
    await t.clock.advance(deadline! - t.clock.now() - 1);
    await t.relay.tick();
  };
  await waitUntilLast();
  await giveVerdict(t, given, "rejected");
  await waitUntilLast();
  await giveVerdict(t, given, "contested");
  await waitUntilLast();
  expect((await decide(t, given, 0.75)).status).toBe(200);
  // The task ended 24 days ago.
  await t.clock.advance(29 * DAY_MS);
  await t.relay.tick();
  for (const reader of [given.boss, given.worker, given.arbiter]) {
    const { status, text } = await t.as(reader, "GET", `${given.task.path}/evidence`);
    expect(status).toBe(200);
    expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
  }
});
