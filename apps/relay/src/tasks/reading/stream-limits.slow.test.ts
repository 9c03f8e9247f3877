import { connect, type Socket } from "node:net";
import type { TestAgent } from "@agent/testkit";
import { limits, type TaskEvent } from "@agent/wire";
import { afterEach, describe, expect, test } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../../test/devices.ts";
import {
  createBuyer,
  createSeller,
  submitAcceptedTask,
  type Delegation,
} from "../../../test/market.ts";
import { onlyOn } from "../../../test/engine/engine.ts";
import {
  createOldDatabase,
  largestEvents,
  type OldDatabase,
} from "../../../test/stored/old-events.ts";
import { OPERATOR_TOKEN, processCount } from "../../../test/test-relay.ts";

let t: ServedRelay;
let database: OldDatabase | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await t.close();
  database?.delete();
  database = undefined;
});

/** Opens a stream over a connection of its own. */
async function open(path: string, token: string): Promise<{ response: Response; cut(): void }> {
  const own = new AbortController();
  const response = await fetch(`${t.baseUrl}${path}/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: own.signal,
  });
  return { response, cut: () => own.abort() };
}

/** Requests a stream and never reads from the connection. */
function openWithoutReading(path: string, token: string): Socket {
  const socket = connect(Number(new URL(t.baseUrl).port), "127.0.0.1");
  sockets.add(socket);
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    `GET ${path}/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  return socket;
}

async function claimTask(boss: TestAgent, worker: TestAgent) {
  const task = await submitAcceptedTask(t, boss, worker);
  expect(await t.as(worker, "POST", `${task.path}/claim`)).toMatchObject({ status: 200 });
  return task;
}

describe("H1: the notes of a task", () => {
  test("H1: notes beyond 64 KiB are dropped, and their progress still counts", async () => {
    t = await serveTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await claimTask(boss, worker);
    const note = "ä".repeat(2_048);
    const leases: number[] = [];
    for (let sent = 0; sent < 20; sent += 1) {
      await t.clock.advance(1_000);
      const reply = await t.as(worker, "POST", `${task.path}/progress`, { note });
      expect(reply.status).toBe(200);
      leases.push(reply.body["lease_until"] as number);
    }
    expect(leases.at(-1)).toBe(t.clock.now() + limits.claimLeaseMs);
    const { body } = await t.as(boss, "GET", task.path);
    expect(body["task"]).toMatchObject({ event_id: 2 + 16 });
    // An empty note still fits, and its number follows without a gap.
    await t.as(worker, "POST", `${task.path}/progress`, { note: "" });
    await t.as(boss, "POST", `${task.path}/cancel`);
    expect(await t.as(worker, "DELETE", `${task.path}/claim`)).toMatchObject({ status: 200 });
    const { text } = await t.as(boss, "GET", `${task.path}/events`);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? "") as TaskEvent,
    );
    expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, index) => index + 1));
    const notes = events.filter(({ type }) => type === "progress");
    expect(notes.map((event) => event.note)).toEqual([
      ...Array.from({ length: 16 }, () => note),
      "",
    ]);
  });
});

describe("H1: a stream that its client does not read", () => {
  test.runIf(onlyOn("sqlite"))(
    "H1: a stream that is not read for 30 s is cut off, and one that is read stays open",
    async () => {
      database = createOldDatabase([largestEvents]);
      t = await serveTestRelay({ AGENT_DB_PATH: database.path });
      const path = `/agent/old-target/task/${database.taskIds[0]}`;
      const polite = await open(path, OPERATOR_TOKEN);
      let [received, isOver] = [0, false];
      const reading = (async () => {
        for await (const piece of polite.response.body ?? []) received += piece.length;
        isOver = true;
      })().catch(() => {});
      const silent = Array.from({ length: 3 }, () => openWithoutReading(path, OPERATOR_TOKEN));
      const closed = silent.map((socket) => new Promise((done) => socket.once("close", done)));
      // Each stream fills the buffers of its connection before it waits for its reader.
      while (received < 20_000_000) await settleEventLoop();
      await new Promise((done) => setTimeout(done, 500));
      for (let passed = 0; passed < 40_000; passed += 1_000) {
        await t.clock.advance(1_000);
        await settleEventLoop();
      }
      // Each client reads what its own buffers hold, and finds its connection closed.
      for (const socket of silent) socket.resume();
      await Promise.all(closed);
      expect(isOver).toBe(false);
      polite.cut();
      await reading;
    },
  );

  test.runIf(onlyOn("sqlite"))(
    "H1: a stream that is read slowly ends with the token of its caller",
    async () => {
      database = createOldDatabase([largestEvents]);
      t = await serveTestRelay({ AGENT_DB_PATH: database.path });
      const agent = await t.createAgent();
      const task = await submitAcceptedTask(t, await createBuyer(t, 1), agent);
      for (let sent = 0; sent < 50; sent += 1) {
        if (sent === 0) await t.as(agent, "POST", `${task.path}/claim`);
        await t.as(agent, "POST", `${task.path}/progress`, { note: `${sent}` });
      }
      const headers = { authorization: `Bearer ${await t.token(agent)}` };
      const request = new Request(`http://relay.test${task.path}/events`, { headers });
      const reader = (await t.relay.fetch(request)).body?.getReader();
      let pieces = 0;
      for (; pieces < 60; pieces += 1) {
        const { done } = (await reader?.read()) ?? {};
        if (done === true) break;
        await t.clock.advance(20_000);
      }
      expect(pieces).toBeGreaterThan(10);
      expect(pieces).toBeLessThan(20);
    },
  );
});

describe("H1: the number of open streams", () => {
  test("H1: a stream whose client disconnects before it begins does not count", async () => {
    t = await serveTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const { path } = await submitAcceptedTask(t, boss, worker);
    const authorization = `Bearer ${await t.token(boss)}`;
    const request = (signal: AbortSignal) =>
      t.relay.fetch(
        new Request(`http://relay.test${path}/events`, { headers: { authorization }, signal }),
      );
    for (let times = 0; times <= limits.streamsPerTask; times += 1) {
      const client = new AbortController();
      const answering = request(client.signal);
      client.abort();
      await answering;
    }
    const client = new AbortController();
    expect((await request(client.signal)).status).toBe(200);
    client.abort();
  });

  test("H1: a caller can have at most 8 streams of one task, and polls do not count", async () => {
    t = await serveTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await claimTask(boss, worker);
    const token = await t.token(boss);
    const allowed = 8 * processCount;
    const streams = await Promise.all(
      Array.from({ length: allowed }, () => open(task.path, token)),
    );
    expect(streams.map(({ response }) => response.status)).toEqual(Array(allowed).fill(200));
    const refused = await t.request("GET", `${task.path}/events`, { token });
    expect(refused).toMatchObject({ status: 429, body: { code: "stream.too_many" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const polls = Array.from({ length: 20 }, () =>
      t.request("GET", `${task.path}?wait=1&after=9`, { token }),
    );
    await settleEventLoop();
    await t.clock.advance(1_000);
    expect(new Set((await Promise.all(polls)).map(({ status }) => status))).toEqual(new Set([200]));
    // Other callers have a limit of their own.
    const others = await Promise.all([
      open(task.path, await t.token(worker)),
      open(task.path, OPERATOR_TOKEN),
    ]);
    expect(others.map(({ response }) => response.status)).toEqual([200, 200]);
    for (const stream of streams.slice(0, processCount)) stream.cut();
    await settleEventLoop();
    const again = await open(task.path, token);
    expect(again.response.status).toBe(200);
    for (const stream of [...streams, ...others, again]) stream.cut();
  });

  test("H1: a caller can have at most 64 streams, which is enough for a console with 20", async () => {
    t = await serveTestRelay();
    const [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 2)];
    const tasks: Delegation[] = [];
    for (let made = 0; made < 20; made += 1) tasks.push(await submitAcceptedTask(t, boss, worker));
    const token = await t.token(boss);
    const allowed = 64 * processCount;
    const console20 = await Promise.all(tasks.map(({ path }) => open(path, token)));
    expect(console20.map(({ response }) => response.status)).toEqual(Array(20).fill(200));
    const more = await Promise.all(
      Array.from({ length: allowed - 20 }, (_, index) =>
        open(tasks[index % 20]?.path ?? "", token),
      ),
    );
    expect(more.map(({ response }) => response.status)).toEqual(Array(allowed - 20).fill(200));
    const { path } = tasks[19] ?? { path: "" };
    const refused = await t.request("GET", `${path}/events`, { token });
    expect(refused).toMatchObject({ status: 429, body: { code: "stream.too_many" } });
    // A streamed message is refused before its task exists.
    const countTasks = async () => {
      const listed = await t.as(boss, "GET", `/agent/${boss.agentId}/tasks?submitted_by=me`);
      return (listed.body["tasks"] as unknown[]).length;
    };
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "work" }] };
    const sent = await t.request("POST", `/a2a/${worker.agentId}`, {
      token,
      headers: { "a2a-version": "1.0" },
      body: { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } },
    });
    expect(sent.text).toContain("stream.too_many");
    expect(await countTasks()).toBe(20);
    for (const stream of [...console20, ...more]) stream.cut();
  });

  test("H1: the operator can have at most 1,024 streams of any tasks", async () => {
    t = await serveTestRelay();
    const task = await submitAcceptedTask(t, await createBuyer(t, 10), await createSeller(t, 2));
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const openInProcess = () =>
      t.relay.fetch(new Request(`http://relay.test${task.path}/events`, { headers }));
    const streams: Response[] = [];
    for (let made = 0; made < 1_024 * processCount; made += 1) streams.push(await openInProcess());
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await openInProcess();
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { code: "stream.too_many" },
    ]);
    // A stream that no client began to read is cut off as well, and no longer counts.
    await t.clock.advance(30_000);
    const after = await openInProcess();
    expect(after.status).toBe(200);
    await after.body?.cancel();
  });
});

test.runIf(onlyOn("sqlite"))(
  "H5: a list of tasks with many events is as fast as one of tasks with none",
  async () => {
    database = createOldDatabase([
      ...Array.from({ length: 5 }, () => []),
      ...Array.from({ length: 5 }, () => largestEvents),
    ]);
    t = await serveTestRelay({ AGENT_DB_PATH: database.path });
    const measure = async (path: string) => {
      const times: number[] = [];
      for (let run = 0; run < 15; run += 1) {
        const began = performance.now();
        expect((await t.asOperator("GET", path)).status).toBe(200);
        times.push(performance.now() - began);
      }
      return Math.min(...times);
    };
    const [plain, busy] = [database.taskIds[0], database.taskIds[9]];
    const poll = (taskId?: string) => measure(`/agent/old-target/task/${taskId}`);
    expect(await poll(busy)).toBeLessThan(5 * (await poll(plain)) + 2);
    const list = await measure("/agent/old-target/tasks");
    expect(list).toBeLessThan(10 * (await poll(plain)) + 5);
  },
);
