import { uuidV7 } from "@agent/crypto";
import type { OperatorAgent } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => (t = await startTestRelay()));
afterEach(() => t.close());

async function listIds(query: string): Promise<string[]> {
  const { status, body } = await t.asOperator("GET", `/api/v1/admin/agents?${query}`);
  expect(status).toBe(200);
  return (body["agents"] as OperatorAgent[]).map(({ agent_id }) => agent_id);
}

test("D30: the operator finds an agent by its id while others have that id in their names", async () => {
  const { agentId } = await t.createAgent();
  const imitator = await t.createAgent();
  await t.as(imitator, "POST", "/api/v1/agents/register", {
    agent_id: imitator.agentId,
    endpoint_url: "https://agents.example/mcp",
    capabilities: [],
    metadata: { name: agentId },
  });
  expect(await listIds(`q=${agentId}`)).toHaveLength(2);
  expect(await listIds(`agent=${agentId}`)).toEqual([agentId]);
});

test("no agent is listed for an id that none has, and a text that is no id is refused", async () => {
  await t.createAgent();
  expect(await listIds(`agent=${uuidV7(1, new Uint8Array(10))}`)).toEqual([]);
  const { status } = await t.asOperator("GET", "/api/v1/admin/agents?agent=none");
  expect(status).toBe(400);
});
