import { expect, test } from "vitest";
import { startTestRelay } from "../../test/test-relay.ts";
import { describeProcess } from "./list-processes.ts";
import { onlyOn } from "../../test/engine/engine.ts";

const row = {
  process_id: "a",
  name: "relay-1",
  version: "1.0.0",
  started_at: 1_000,
  until: 25_000,
  is_live: 1,
  leads: 0,
  agents: 3,
} as const;
const shown = {
  process_id: "a",
  name: "relay-1",
  version: "1.0.0",
  started_at: 1_000,
  renewed_at: 15_000,
  alive: true,
  leads: false,
  answers: true,
  agents: 3,
};

test.each([
  ["the one that answers", row, "a", shown],
  ["another one", row, "b", { ...shown, answers: false }],
  ["the leader", { ...row, leads: 1 as const }, "a", { ...shown, leads: true }],
  ["a dead one", { ...row, is_live: 0 as const }, "b", { ...shown, alive: false, answers: false }],
])("a process is described by its row: %s", (_, given, ownId, expected) => {
  expect(describeProcess(given, ownId)).toEqual(expected);
});

test.runIf(onlyOn("sqlite"))("a relay of one process lists itself", async () => {
  const t = await startTestRelay({ AGENT_PROCESS_NAME: "alone" });
  await t.clock.advance(5_000);
  const { body } = await t.asOperator("GET", "/api/v1/admin/processes");
  expect(body["processes"]).toMatchObject([
    { process_id: null, name: "alone", alive: true, leads: true, answers: true, agents: 0 },
  ]);
  const overview = await t.asOperator("GET", "/api/v1/admin/overview");
  expect(overview.body["processes"]).toBe(1);
  await t.close();
});
