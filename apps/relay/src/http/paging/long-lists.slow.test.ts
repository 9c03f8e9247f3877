import { canonicalize, sha256Hex } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { limits, type MarketCandidate } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { approvalsPath } from "../../../test/agents/approvals.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let target: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "0" });
  target = await t.createWorker(0);
});
afterEach(() => t.close());

/** One character that JSON writes as six bytes. */
const WIDE = "\u0001";
const LONG_CAPABILITIES = Array.from(
  { length: limits.capabilities },
  (_, index) => `${index}${WIDE.repeat(limits.shortText - 2)}`,
);

/** Reads all pages of a list, none of which may be too large for clients. */
async function walk(path: string, list: string, by?: TestAgent): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let cursor = ""; ;) {
    const address = `${path}limit=${limits.maxPageSize}${cursor}`;
    const answer = await (by === undefined
      ? t.asOperator("GET", address)
      : t.as(by, "GET", address));
    expect(answer.status).toBe(200);
    expect(Buffer.byteLength(answer.text)).toBeLessThan(limits.outboundBytes);
    seen.push(...(answer.body[list] as unknown[]));
    if (answer.body["next_cursor"] === null) return seen;
    cursor = `&cursor=${answer.body["next_cursor"] as string}`;
  }
}

test("H28: long prompts of strangers do not prevent an agent from reading its tasks", async () => {
  const stranger = await createBuyer(t, 1);
  for (let count = 0; count < 10; count += 1) {
    await submitAcceptedTask(t, stranger, target, { prompt: "x".repeat(limits.promptBytes) });
  }
  expect(await walk(`/agent/${target.agentId}/tasks?`, "tasks", target)).toHaveLength(10);
});

test("H28: long capabilities of tasks and agents do not prevent the operator from reading a list", async () => {
  const stranger = await createBuyer(t, 1);
  for (let count = 0; count < 15; count += 1) {
    const agent = await t.createAgent();
    const body = {
      agent_id: agent.agentId,
      endpoint_url: "https://agents.example/mcp",
      capabilities: LONG_CAPABILITIES,
    };
    expect((await t.as(agent, "POST", "/api/v1/agents/register", body)).status).toBe(200);
    await submitAcceptedTask(t, stranger, agent, { required_capabilities: LONG_CAPABILITIES });
  }
  expect(await walk("/api/v1/admin/tasks?", "tasks")).toHaveLength(15);
  expect((await walk("/api/v1/admin/agents?", "agents")).length).toBeGreaterThanOrEqual(15);
  expect((await walk("/api/v1/agents/discover?", "agents")).length).toBeGreaterThanOrEqual(15);
});

test("H28: long arguments of strangers do not prevent an owner from reading other calls", async () => {
  const args = { text: WIDE.repeat(limits.approvalArguments / 6 - 10) };
  const call = { tool_name: "pay", args_hash: sha256Hex(canonicalize(args)), arguments: args };
  for (let count = 0; count < 150; count += 1) {
    const stranger = await t.createAgent();
    const quorum = { quorum_required: 1, quorum_approvers: [target.agentId] };
    const asked = await t.as(stranger, "POST", approvalsPath(stranger), { ...call, ...quorum });
    expect(asked.status).toBe(201);
  }
  const query = "as=approver&status=pending&requester=unknown&";
  const path = `${approvalsPath(target)}?${query}`;
  expect(await walk(path, "approvals", target)).toHaveLength(150);
});

test("H28: long listings of strangers do not prevent an agent from reading the market", async () => {
  const pricing = LONG_CAPABILITIES.map((capability) => ({ capability, unit_cost: 0 }));
  const seller = await createSeller(t, 1);
  for (let count = 0; count < 15; count += 1) {
    const stranger = await createSeller(t, 0);
    const capabilities = ["summarise", ...LONG_CAPABILITIES.slice(1)];
    const body = { capabilities, pricing };
    const path = `/api/v1/agents/${stranger.agentId}/listing`;
    expect((await t.as(stranger, "POST", path, body)).status).toBe(200);
  }
  const answer = await t.as(target, "GET", "/api/v1/market/candidates?capability=summarise");
  expect(Buffer.byteLength(answer.text)).toBeLessThan(limits.outboundBytes);
  const shown = answer.body["candidates"] as MarketCandidate[];
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.map(({ agent_id }) => agent_id)).toContain(seller.agentId);
});
