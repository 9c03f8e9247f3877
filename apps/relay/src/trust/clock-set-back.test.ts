import { afterEach, beforeEach, expect, test } from "vitest";
import { credentialsPath } from "../../test/agents/credentials.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getAgentStates,
  getTaskAt,
} from "../../test/market.ts";
import {
  DAY_MS,
  startJumpingRelay,
  type JumpingRelay,
} from "../../test/processes/clock-jump-relay.ts";
import { createReceipt } from "../../test/test-relay.ts";

let t: JumpingRelay;
beforeEach(async () => {
  t = await startJumpingRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
});
afterEach(() => t.close());

async function acceptClock(ahead: number): Promise<void> {
  t.setAhead(ahead);
  await t.advance(1_000);
  const { status } = await t.asOperator("POST", "/api/v1/admin/clock/accept");
  expect(status).toBe(200);
}

test.each([
  ["before its clock is set back", 3 * DAY_MS, 4_000],
  ["after its clock was set back", 0, 0],
])(
  "MN30: a relay whose clock was three days ahead pays for a task that ends %s",
  async (_, ahead, avg_latency_ms) => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    await acceptClock(3 * DAY_MS);
    // As the operator, because the tokens of agents are of the correct time.
    const sent = await t.asOperator("POST", `/agent/${worker.agentId}/task`, {
      prompt: "work",
      submitted_by: boss.agentId,
    });
    const task_id = String(sent.body["task_id"]);
    const path = `/agent/${worker.agentId}/task/${task_id}`;
    const { submitted_at } = await getTaskAt(t, path);
    await acceptClock(ahead);
    await t.advance(3_000);
    const receipt = createReceipt(worker, { task_id, prompt: "work", submitted_at });
    const delivered = await t.asOperator("POST", `${path}/result`, receipt);
    expect(delivered).toMatchObject({ status: 200 });
    expect(await t.getBalance(worker)).toBe(1.9);
    await expectConsistentBooks(t, { holds: 0 });
    const [state] = await getAgentStates(t, [boss]);
    expect(state?.trust).toMatchObject([{ successful_tasks: 1, avg_latency_ms }]);
    const issued = await t.asOperator("GET", credentialsPath(worker));
    expect(issued.body["credentials"]).not.toEqual([]);
    const listed = await t.asOperator("GET", "/api/v1/admin/tasks");
    expect(listed.body["tasks"]).toMatchObject([{ task_id, duration_ms: avg_latency_ms }]);
  },
);
