import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { editStored } from "../../test/engine/stored.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay } from "../../test/devices.ts";
import {
  startMcpEndpoint,
  registerEndpoint,
  textResult,
  type McpEndpoint,
} from "../../test/network/endpoint.ts";
import {
  submitAcceptedTask,
  createSeller,
  submitTask,
  getTaskAt,
  type Delegation,
} from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let folder: string;
let file: string;
const running: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relay-"));
  file = join(folder, "relay.db");
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
  await rm(folder, { recursive: true });
});

function closedAfter<C extends { close(): Promise<void> }>(one: C): C {
  running.push(one);
  return one;
}

/** Every start of the relay has another seed, as real ones do. */
async function start(seed: number): Promise<TestRelay> {
  return closedAfter(await startTestRelay({ AGENT_DB_PATH: file }, seed));
}

async function stop(t: TestRelay): Promise<void> {
  running.splice(running.indexOf(t), 1);
  await t.close();
}

const doing = async (t: () => TestRelay, agent: TestAgent): Promise<McpEndpoint> =>
  closedAfter(
    await startMcpEndpoint(({ relay_task_id: task_id, prompt }) => {
      const task = { task_id, prompt, submitted_at: t().clock.now() };
      return textResult(JSON.stringify(createReceipt(agent, task)));
    }),
  );

const becomes = (t: TestRelay, { path }: Delegation, status: string) =>
  expect.poll(async () => (await getTaskAt(t, path)).status).toBe(status);

describe("a relay that restarts", () => {
  test("a relay that restarts routes tasks that wait for endpoints once", async () => {
    let t = await start(1);
    const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
    const waiting = [
      await submitAcceptedTask(t, boss, worker),
      await submitAcceptedTask(t, boss, worker),
    ];
    const endpoint = await doing(() => t, worker);
    // It is registered in the database, because a registration over HTTP would trigger routing.
    const edit = "UPDATE agents SET endpoint_url = ?, registered = 1 WHERE agent_id = ?";
    await editStored(file, edit, [endpoint.url, worker.agentId]);
    await stop(t);

    t = await start(2);
    expect(endpoint.calls).toEqual([]);
    await t.relay.tick();
    for (const task of waiting) await becomes(t, task, "completed");
    await t.clock.advance(60_000);
    await t.relay.tick();
    await settleEventLoop();
    expect(endpoint.calls).toHaveLength(2);
  });

  test("a relay that restarts retries the calls that were in flight at its shutdown, without waiting for the lease", async () => {
    let t = await start(1);
    const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
    let answer: () => Promise<CallToolResult> = () => new Promise(() => {});
    const endpoint = closedAfter(await startMcpEndpoint(() => answer()));
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await stop(t);
    expect(t.listLogged("task.routing_failed")).toEqual([]);
    expect(t.clock.pending()).toEqual([]);

    answer = async () => textResult(JSON.stringify(createReceipt(worker, task)));
    t = await start(2);
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
    await t.relay.tick();
    await becomes(t, task, "completed");
    expect(endpoint.calls).toHaveLength(2);
  });
});

test("a relay that shuts down reassigns no task because its sockets close", async () => {
  const t = closedAfter(await serveTestRelay({ AGENT_DB_PATH: file }));
  const [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
  const endpoint = await doing(() => t, worker);
  await registerEndpoint(t, worker, endpoint.url);
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, boss, worker);
  await device.next("task_assigned");
  await t.stop();
  expect(endpoint.requests).toEqual([]);
  const again = await start(2);
  expect(await getTaskAt(again, task.path)).toMatchObject({ status: "pending" });
});

describe("RT2 blocked agents", () => {
  async function block(t: TestRelay, payer: TestAgent, blocked: TestAgent): Promise<void> {
    await stop(t);
    const edit = "INSERT INTO trust_records VALUES (?, ?, 0, 1, 1, 0, 0, 0, 0, NULL, 0)";
    await editStored(file, edit, [payer.agentId, blocked.agentId]);
  }

  test("an agent that a payer has blocked is never chosen for that payer's tasks or offered them in any way", async () => {
    const first = await start(1);
    const [boss, other] = [await first.createAgent(), await first.createAgent()];
    const [blocked, target] = [await createSeller(first, 0), await first.createAgent()];
    await submitAcceptedTask(first, boss, blocked);
    await submitAcceptedTask(first, boss, blocked, { required_capabilities: ["summarise"] });
    await block(first, boss, blocked);

    const t = closedAfter(await serveTestRelay({ AGENT_DB_PATH: file }, 2));
    const device = await t.connectDevice(blocked);
    const endpoint = await doing(() => t, blocked);
    const refused = await submitTask(t, boss, blocked);
    expect(refused).toMatchObject({ status: 403, body: { code: "task.target_blocked" } });
    const scored = await submitAcceptedTask(t, boss, target, {
      required_capabilities: ["summarise"],
    });
    expect(await getTaskAt(t, scored.path)).toMatchObject({
      routing_choice: null,
      assigned_to: null,
    });
    expect(await device.takeRemaining()).toEqual([]);
    const again = await t.connectDevice(blocked);
    expect(await again.takeRemaining()).toEqual([]);
    device.socket.terminate();
    again.socket.terminate();
    await registerEndpoint(t, blocked, endpoint.url);
    await settleEventLoop();
    expect(endpoint.requests).toEqual([]);

    const task = await submitAcceptedTask(t, other, blocked);
    await becomes(t, task, "completed");
  });
});
