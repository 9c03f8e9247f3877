import { randomUUID } from "node:crypto";
import { createReceipt, startBalancer, type Balancer } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import type { ServerMessage } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { onlyOn } from "../engine/engine.ts";
import { createLoadAgents, requestJson, type LoadAgents } from "../load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { listenAsDevice, type Device } from "./listen-as-device.ts";
import { startNetworkProxy, type NetworkProxy } from "./network-proxy.ts";

const DEPOSIT = 100;

/** The process with the executor's socket is killed at each step of a task that another process accepted. */
describe.runIf(onlyOn("postgres"))("a task whose executor's process is killed", () => {
  let databaseUrl: string;
  let left: RelayProcess;
  let killed: RelayProcess;
  let leftUrl: string;
  let network: NetworkProxy;
  let balancer: Balancer;
  let load: LoadAgents;
  let device: Device;
  beforeEach(async () => {
    databaseUrl = await openDatabaseOf(randomUUID());
    const env = { ...minimalEnv, AGENT_DATABASE_URL: databaseUrl };
    [left, killed] = [startRelay(env, { isExact: true }), startRelay(env, { isExact: true })];
    leftUrl = await left.baseUrl;
    network = await startNetworkProxy(await killed.baseUrl);
    let target = network.toUrl(await killed.baseUrl);
    void killed.ended.then(() => (target = leftUrl));
    balancer = await startBalancer(() => [target]);
    load = await createLoadAgents(leftUrl);
    const account = `${leftUrl}/api/v1/agents/${load.payer.agentId}/deposit`;
    await requestJson(account, OPERATOR_TOKEN, "POST", { amount: DEPOSIT });
    device = listenAsDevice(load.worker, balancer.url);
    await device.heard("ready");
    const state = `${leftUrl}/api/v1/agents/${load.worker.agentId}/state`;
    await waitUntil(async () => (await requestJson(state, OPERATOR_TOKEN)).body["online"] === true);
  });
  afterEach(async () => {
    device.socket.close();
    await endRelays();
    await Promise.all([balancer.close(), network.close()]);
  });

  const tasksPath = () => `${leftUrl}/agent/${load.worker.agentId}/task`;

  async function submit() {
    const task = { prompt: "count to three", submitted_by: load.payer.agentId };
    const { status, body } = await requestJson(tasksPath(), OPERATOR_TOKEN, "POST", task);
    expect({ status, body }).toMatchObject({ status: 201 });
    return { ...task, task_id: String(body["task_id"]), submitted_at: Date.now() };
  }

  async function kill(): Promise<void> {
    killed.kill("SIGKILL");
    await killed.ended;
  }

  const send = (message: Parameters<Device["socket"]["send"]>[0]) => device.socket.send(message);
  const count = (type: ServerMessage["type"]) =>
    device.received.filter((message) => message.type === type).length;
  const sendResult = (task: Awaited<ReturnType<typeof submit>>) =>
    send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(load.worker, task) },
    });

  async function claim({ task_id }: { readonly task_id: string }): Promise<void> {
    send({ type: "claim", task_id });
    await device.heard("claimed");
  }

  async function isCompleted({ task_id }: { readonly task_id: string }): Promise<boolean> {
    const { body } = await requestJson(`${tasksPath()}/${task_id}`, OPERATOR_TOKEN);
    return (body["task"] as { status: string }).status === "completed";
  }

  /** Expects that the task's executor was paid once, and that no other money has moved. */
  async function expectPaidOnce(task: { readonly task_id: string }): Promise<void> {
    expect(await isCompleted(task)).toBe(true);
    const settled = await runStatement(
      databaseUrl,
      "SELECT status FROM settlements WHERE task_id = $1",
      [task.task_id],
    );
    expect(settled).toEqual([{ status: "completed" }]);
    const account = `${leftUrl}/api/v1/agents/${load.payer.agentId}/balance`;
    const { body } = await requestJson(account, OPERATOR_TOKEN);
    expect(body).toMatchObject({ balance: DEPOSIT - 1, pending_allocations: 0 });
    const books = await requestJson(`${leftUrl}/api/v1/admin/reconciliation`, OPERATOR_TOKEN);
    expect(books.body).toMatchObject({ consistent: true });
  }

  test("a task whose process is killed before it could offer it is offered by the other", async () => {
    killed.kill("SIGSTOP");
    const task = await submit();
    await kill();
    await device.heard("task_assigned");
    await claim(task);
    sendResult(task);
    await device.heard("result_accepted");
    expect(count("task_assigned")).toBe(1);
    await expectPaidOnce(task);
  });

  test("a task whose process is killed after it was offered is offered again", async () => {
    const task = await submit();
    await device.heard("task_assigned");
    await kill();
    await device.heard("task_assigned", 2);
    await claim(task);
    sendResult(task);
    await device.heard("result_accepted");
    await expectPaidOnce(task);
  });

  test("a task whose process is killed after it was claimed stays with its executor", async () => {
    const task = await submit();
    await device.heard("task_assigned");
    await claim(task);
    await kill();
    await device.heard("ready", 2);
    sendResult(task);
    await device.heard("result_accepted");
    await expectPaidOnce(task);
  });

  test("a task whose process is killed before it has read the result takes it from the other", async () => {
    const task = await submit();
    await device.heard("task_assigned");
    await claim(task);
    killed.kill("SIGSTOP");
    sendResult(task);
    await kill();
    await device.heard("ready", 2);
    expect(await isCompleted(task)).toBe(false);
    sendResult(task);
    await device.heard("result_accepted");
    await expectPaidOnce(task);
  });

  test("a task whose process is killed after the answer to its result was lost is paid once", async () => {
    const task = await submit();
    await device.heard("task_assigned");
    await claim(task);
    network.silence("toClient");
    sendResult(task);
    await waitUntil(() => isCompleted(task));
    await kill();
    network.cut(true);
    await device.heard("ready", 2);
    expect(count("result_accepted")).toBe(0);
    sendResult(task);
    await device.heard("result_accepted");
    await expectPaidOnce(task);
  });
});

const waitUntil = (check: () => Promise<boolean>) =>
  vi.waitUntil(check, { timeout: 20_000, interval: 50 });
