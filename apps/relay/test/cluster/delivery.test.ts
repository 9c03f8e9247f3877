import { followTask, type AgentSocket, type FollowedEvent } from "@agent/client";
import { createReceipt, createSeededRandom, createTestAgent, type TestAgent } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listenAsDevice, type Device } from "./listen-as-device.ts";
import { call, startCluster, type Cluster, type Member } from "./start-cluster.ts";
import { onlyOn } from "../engine/engine.ts";

const PROMPT = "count to three";
/** The connections on which processes receive each other's notifications. */
const LISTENERS =
  "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'agent-relay-hints'";

/** Without a notification each process polls every second. */
const MAX_DELAY = { timeout: 3_500, interval: 20 };

/** Notifications only make processes poll sooner, so all of this must also work without them. */
describe.runIf(onlyOn("postgres")).each([
  ["with notifications", {}],
  ["by looks alone", { AGENT_DATABASE_LISTEN_URL: "off" }],
] as const)("three processes deliver to each other's agents %s", (_, env) => {
  let cluster: Cluster;
  const sockets: AgentSocket[] = [];
  beforeAll(async () => {
    cluster = await startCluster(3, env);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close();
  });
  afterAll(() => cluster.stop());

  const member = (at: number) => cluster.members[at] as Member;

  /** Connects a device of an agent to one process. */
  function connect(worker: TestAgent, { url }: Pick<Member, "url">): Device {
    const device = listenAsDevice(worker, url);
    sockets.push(device.socket);
    return device;
  }

  async function submit(boss: TestAgent, worker: TestAgent, at: Pick<Member, "url">) {
    const path = `/agent/${worker.agentId}/task`;
    const answer = await cluster.as(boss, at, "POST", path, { body: { prompt: PROMPT } });
    expect(answer).toMatchObject({ status: 201 });
    const task_id = String(answer.body["task_id"]);
    return { task_id, prompt: PROMPT, submitted_at: Date.now(), path: `${path}/${task_id}` };
  }

  /** Collects the types of a task's events from the stream of one process. */
  function follow(
    boss: TestAgent,
    worker: TestAgent,
    { taskId, at }: { taskId: string; at: Member },
  ) {
    const types: string[] = [];
    const steps = followTask({
      baseUrl: at.url,
      agentId: worker.agentId,
      taskId,
      bearer: async () => ({ ok: true, token: await cluster.token(boss) }),
      randomBytes: (length) => new Uint8Array(length),
    });
    const collect = async (following: AsyncIterable<FollowedEvent>) => {
      for await (const step of following) types.push(step.ok ? step.event.type : step.code);
    };
    return { types, ended: collect(steps) };
  }

  test("RT2: no process offers a waiting task to an executor that its payer has blocked since", async () => {
    const [boss, other] = [await cluster.createAgent(), await cluster.createAgent()];
    const worker = await cluster.createWorker(0);
    await submit(boss, worker, member(0));
    const block = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
    const body = { trust_level: "blocked" };
    expect((await cluster.as(boss, member(0), "PUT", block, { body })).status).toBe(200);
    // The other processes learn of it within about a second.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const device = connect(worker, member(1));
    await device.heard("ready");
    const allowed = await submit(other, worker, member(2));
    await device.heard("task_assigned");
    // By then the relay was due to offer the waiting task to its executor.
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    const offered = device.received.flatMap((message) =>
      message.type === "task_assigned" ? [message.task.task_id] : [],
    );
    expect(new Set(offered)).toEqual(new Set([allowed.task_id]));
  });

  /** Lets a device of the second process do a task of the first process, while the third one streams its events. */
  async function expectWork(boss: TestAgent, worker: TestAgent, device: Device): Promise<void> {
    const before = device.received.length;
    const heard = (type: string) =>
      expect
        .poll(() => device.received.slice(before).map((message) => message.type), MAX_DELAY)
        .toContain(type);
    const task = await submit(boss, worker, member(0));
    const { task_id: taskId } = task;
    const stream = follow(boss, worker, { taskId, at: member(2) });
    await heard("task_assigned");
    device.socket.send({ type: "claim", task_id: taskId });
    await heard("claimed");
    await expect.poll(() => stream.types, MAX_DELAY).toContain("claimed");
    const receipt = { ...createReceipt(worker, task) };
    device.socket.send({ type: "result", task_id: taskId, receipt });
    await heard("result_accepted");
    await stream.ended;
    expect(stream.types.filter((type) => type !== "progress")).toEqual([
      "submitted",
      "claimed",
      "completed",
    ]);
  }

  async function createParties() {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 10);
    return { boss, worker };
  }

  const isOnlineAt = async (worker: TestAgent, at: Member) =>
    (await cluster.asOperator(at, "GET", `/api/v1/agents/${worker.agentId}/state`)).body;

  test("a task from one process reaches a socket of a second and a poll at a third", async () => {
    const { boss, worker } = await createParties();
    const device = connect(worker, member(1));
    await device.heard("ready");
    for (const each of cluster.members) {
      await expect.poll(() => isOnlineAt(worker, each)).toMatchObject({ online: true });
    }
    const task = await submit(boss, worker, member(0));
    const began = Date.now();
    const poll = cluster.as(boss, member(2), "GET", `${task.path}?wait=20&after=1`);
    await device.heard("task_assigned");
    expect(Date.now() - began).toBeLessThan(MAX_DELAY.timeout);
    device.socket.send({ type: "claim", task_id: task.task_id });
    await device.heard("claimed");
    const claimedAt = Date.now();
    expect((await poll).body).toMatchObject({ task: { status: "claimed" } });
    expect(Date.now() - claimedAt).toBeLessThan(MAX_DELAY.timeout);
    const after = cluster.as(boss, member(2), "GET", `${task.path}?wait=20&after=2`);
    device.socket.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    await device.heard("result_accepted");
    const completedAt = Date.now();
    expect((await after).body).toMatchObject({ task: { status: "completed" } });
    expect(Date.now() - completedAt).toBeLessThan(MAX_DELAY.timeout);
    expect(device.received.filter(({ type }) => type === "task_assigned")).toHaveLength(1);
  });

  test("tasks go on when the connections for notifications end between two of them", async () => {
    const { boss, worker } = await createParties();
    const device = connect(worker, member(1));
    await device.heard("ready");
    const count = async () =>
      (await runStatement(cluster.databaseUrl, `SELECT 1 ${LISTENERS}`)).length;
    const listening = "AGENT_DATABASE_LISTEN_URL" in env ? 0 : 3;
    await expect.poll(count).toBe(listening);
    await expectWork(boss, worker, device);
    await runStatement(cluster.databaseUrl, `SELECT pg_terminate_backend(pid) ${LISTENERS}`);
    await expectWork(boss, worker, device);
    await expect.poll(count).toBe(listening);
    await expectWork(boss, worker, device);
  });

  test("a cancel at one process reaches the socket of another", async () => {
    const { boss, worker } = await createParties();
    const device = connect(worker, member(1));
    await device.heard("ready");
    const task = await submit(boss, worker, member(1));
    await device.heard("task_assigned");
    device.socket.send({ type: "claim", task_id: task.task_id });
    await device.heard("claimed");
    const asked = await cluster.as(boss, member(0), "POST", `${task.path}/cancel`);
    expect(asked.status).toBe(202);
    await device.heard("cancel_requested");
    device.socket.send({ type: "release", task_id: task.task_id });
    await device.heard("task_cancelled");

    const other = await submit(boss, worker, member(1));
    await device.heard("task_assigned", 2);
    expect((await cluster.as(boss, member(2), "POST", `${other.path}/cancel`)).status).toBe(200);
    await device.heard("task_cancelled", 2);
  });

  test("a block at one process is respected by a claim at another at once", async () => {
    const { boss, worker } = await createParties();
    const device = connect(worker, member(1));
    await device.heard("ready");
    const task = await submit(boss, worker, member(1));
    await device.heard("task_assigned");
    const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
    const blocked = await cluster.as(boss, member(0), "PUT", path, {
      body: { trust_level: "blocked" },
    });
    expect(blocked).toMatchObject({ status: 200 });
    device.socket.send({ type: "claim", task_id: task.task_id });
    await device.heard("error");
    const errors = device.received.filter(({ type }) => type === "error");
    expect(errors).toMatchObject([{ code: "task.not_pending" }]);
    await device.heard("task_cancelled");
  });

  test("D24: a block that another process has just stored is respected by a claim and by a receipt", async () => {
    const { boss, worker } = await createParties();
    const tasks = [
      await submit(boss, worker, member(1)),
      await submit(boss, worker, member(1)),
    ] as const;
    const path = ({ task_id }: (typeof tasks)[number], act: string) =>
      `/agent/${worker.agentId}/task/${task_id}/${act}`;
    const deliver = (task: (typeof tasks)[number]) =>
      cluster.as(worker, member(1), "POST", path(task, "result"), {
        body: createReceipt(worker, task),
      });
    const claim = (task: (typeof tasks)[number]) =>
      cluster.as(worker, member(1), "POST", path(task, "claim"));
    expect(await claim(tasks[0])).toMatchObject({ status: 200 });
    // Written past the processes, so that none has heard of it.
    const pair = `'${boss.agentId}', '${worker.agentId}'`;
    await runStatement(
      cluster.databaseUrl,
      `INSERT INTO trust_records VALUES (${pair}, 0, 1, 1, 0, 0, 0, 0, NULL, 0)`,
    );
    expect(await deliver(tasks[1])).toMatchObject({
      status: 403,
      body: { code: "task.not_participant" },
    });
    expect(await claim(tasks[1])).toMatchObject({
      status: 409,
      body: { code: "task.not_pending" },
    });
    expect(await deliver(tasks[0])).toMatchObject({ status: 200 });
  });

  test("a revoked agent's socket at another process is closed", async () => {
    const { worker } = await createParties();
    const device = connect(worker, member(2));
    await device.heard("ready");
    const path = `/api/v1/agents/${worker.agentId}/revoke`;
    expect((await cluster.asOperator(member(0), "POST", path, {})).status).toBe(200);
    await expect.poll(() => device.codes).toContain(4401);
  });

  /** Stores a task as if its process had ended before it offered the task to a device that connects later. */
  async function submitUnrouted(dueInMs: number) {
    const { boss, worker } = await createParties();
    const { task_id } = await submit(boss, worker, member(0));
    const change = (text: string) =>
      runStatement(cluster.databaseUrl, `UPDATE tasks SET ${text} WHERE task_id = '${task_id}'`);
    await change(`status = 'x', bring_at = ${Date.now() + dueInMs}`);
    const device = connect(worker, member(1));
    await device.heard("ready");
    expect(device.received.map(({ type }) => type)).not.toContain("task_assigned");
    await change("status = 'pending'");
    return { task_id, device };
  }

  test("a task that was stored and never routed is brought to its executor", async () => {
    const { task_id, device } = await submitUnrouted(-1);
    await device.heard("task_assigned");
    await expect
      .poll(async () => {
        const [row] = await runStatement(
          cluster.databaseUrl,
          "SELECT bring_at > submitted_at + 10000 AS moved FROM tasks WHERE task_id = $1",
          [task_id],
        );
        return row;
      })
      .toEqual({ moved: true });
  });

  test("a task that is not due yet is found by the process of a device that never got it", async () => {
    const { task_id, device } = await submitUnrouted(29_000);
    await device.heard("task_assigned");
    const offered = device.received.filter(({ type }) => type === "task_assigned");
    expect(offered).toMatchObject([{ task: { task_id } }]);
  });

  test("a pairing code that was guessed wrongly at all processes is refused at each", async () => {
    const agent = createTestAgent({ now: Date.now, ...createSeededRandom(7) });
    const guess = (at: Member) =>
      call(at, "POST", "/pairing/claim", {
        body: { pairing_code: "ABCD2345", device_name: "thief", public_key: agent.publicKey },
      });
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await guess(cluster.next())).body).toMatchObject({ code: "pairing.not_found" });
    }
    for (const each of cluster.members) expect((await guess(each)).status).toBe(429);
  });
});
