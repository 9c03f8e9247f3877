import { createManualClock } from "@agent/testkit";
import { afterEach, expect, test } from "vitest";
import { createSeller, getTaskAt, submitAcceptedTask } from "../../../test/market.ts";
import {
  registerEndpoint,
  startHttpEndpoint,
  startMcpEndpoint,
  textResult,
  type Endpoint,
} from "../../../test/network/endpoint.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let endpoint: Endpoint;
afterEach(async () => {
  await endpoint.close();
  await t.close();
});

/** Returns a clock that jumps over the first pause of an endpoint right after the pause has begun. */
function createImpatientClock() {
  const clock = createManualClock();
  let jumped = false;
  const schedule: typeof clock.schedule = (ms, work) => {
    const cancel = clock.schedule(ms, work);
    if (ms === 1_000 && !jumped) queueMicrotask(() => void clock.advance(ms));
    jumped ||= ms === 1_000;
    return cancel;
  };
  return { ...clock, schedule };
}

test("a task whose release takes longer than the pause of its endpoint is tried again", async () => {
  t = await startTestRelay({}, 1, createImpatientClock());
  const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
  endpoint = await startHttpEndpoint((_, response) => response.destroy());
  await registerEndpoint(t, worker, endpoint.url);
  await submitAcceptedTask(t, boss, worker);
  await expect.poll(() => t.listLogged("mcp.forward_failed")).toHaveLength(2);
});

test("a task that waits for an unreachable endpoint is tried again once the endpoint answers for another", async () => {
  t = await startTestRelay();
  const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
  let isUp = true;
  let finish = () => {};
  const released = new Promise<void>((resolve) => (finish = resolve));
  const mcp = await startMcpEndpoint(
    async ({ relay_task_id: task_id, prompt }) => {
      if (prompt === "long") await released;
      const task = { task_id, prompt, submitted_at: t.clock.now() };
      return textResult(JSON.stringify(createReceipt(worker, task)));
    },
    () => isUp,
  );
  endpoint = mcp;
  await registerEndpoint(t, worker, mcp.url);
  const long = await submitAcceptedTask(t, boss, worker, { prompt: "long" });
  await expect.poll(() => mcp.calls).toHaveLength(1);
  isUp = false;
  const waiting = await submitAcceptedTask(t, boss, worker);
  await expect.poll(() => t.listLogged("mcp.forward_failed")).toHaveLength(1);
  isUp = true;
  finish();
  for (const { path } of [long, waiting]) {
    await expect.poll(async () => (await getTaskAt(t, path)).status).toBe("completed");
  }
});
