import { delegate } from "@agent/client";
import { parseLedger, verifyLedger } from "@agent/ledger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

const listing = (capability: string) => ({
  capabilities: [capability],
  pricing: [{ capability, unit_cost: 1 }],
  description: capability,
});

/** Lets an agent do a paid task by a tool that delegates a part of it to another agent. */
async function delegateInside(file: { ledgers?: boolean }) {
  const helper = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [createTextTool("whisper", (text) => ({ ok: true, data: text.toLowerCase() }))],
    file: { listing: listing("whisper"), ...file },
  });
  const worker = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [
      createTextTool("ask", async (prompt, context) => {
        const answer = await context.delegate?.({ capability: "whisper", prompt, max_budget: 2 });
        return answer?.ok === true ? { ok: true, data: answer.data } : { ok: false, error: "none" };
      }),
    ],
    file: { listing: listing("ask"), ...file },
  });
  const { agentId, publicKey } = worker.agent.identity;
  const payer = createTestIdentity().agentId;
  for (const id of [payer, agentId]) {
    await relay.operator.deposit({ params: { agentId: id }, body: { amount: 5 } });
  }
  const done = await delegate(relay.operator, {
    agentId,
    prompt: "A SECRET",
    requiredCapabilities: ["ask"],
    submittedBy: payer,
    timeoutMs: 20_000,
  });
  await worker.stop();
  await helper.stop();
  if (!done.ok) throw new Error(done.message);
  const goalId = done.task.task_id;
  const ledger = await relay.operator.getLedger({ params: { agentId, goalId } });
  const settlements = await relay.operator.listSettlements({ params: { agentId } });
  if (!ledger.ok || !settlements.ok) throw new Error("The relay has no ledger or no settlements");
  const parsed = parseLedger(ledger.body);
  if (!parsed.ok) throw new Error(parsed.message);
  const settlement = settlements.body.settlements.find(({ task_id }) => task_id === goalId);
  return { receipt: done.receipt, ledger: parsed.ledger, settlement, agentId, publicKey };
}

describe("the ledger of a relay task", () => {
  test("an agent with ledgers stores its signed timeline, which its settlement names", async () => {
    const { receipt, ledger, settlement, agentId, publicKey } = await delegateInside({
      ledgers: true,
    });
    expect(receipt).toMatchObject({ status: "completed", result: "a secret" });
    expect(verifyLedger(ledger, { agentId, publicKey })).toMatchObject({ valid: true });
    expect(ledger.signature).toBeDefined();
    expect(ledger.timeline.map(({ type, payload }) => ({ type, ...payload }))).toMatchObject([
      { type: "goal_started", goal_id: receipt.task_id },
      { type: "tool_invoked", tool: "ask" },
      { type: "tool_result", tool: "ask", ok: true },
      { type: "goal_completed", status: "completed" },
    ]);
    expect(ledger.delegation_receipts?.map(({ task_id }) => task_id)).toEqual(
      receipt.delegation_receipts?.map(({ task_id }) => task_id),
    );
    expect(ledger.delegation_receipts).toHaveLength(1);
    expect(JSON.stringify(ledger).toLowerCase()).not.toContain("secret");
    expect(settlement).toMatchObject({
      status: "completed",
      amount_settled: 1,
      ledger_hash: ledger.content_hash,
    });
  });

  test("an agent without ledgers leaves the relay to reconstruct one without a signature", async () => {
    const { ledger, settlement } = await delegateInside({});
    expect(ledger.signature).toBeUndefined();
    expect(settlement).toMatchObject({ status: "completed", ledger_hash: null });
  });
});
