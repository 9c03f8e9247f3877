import { signSuccession } from "@agent/crypto";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { submitAcceptedTask, createSeller } from "../../test/market.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

async function isOnline({ agentId }: TestAgent): Promise<boolean> {
  const { body } = await t.asOperator("GET", `/api/v1/agents/${agentId}`);
  return body["online"] as boolean;
}

/** Rotates the agent's key. */
async function rotate(agent: TestAgent): Promise<TestAgent> {
  const next = t.createUnknownAgent();
  const succession = signSuccession({
    agent_id: agent.agentId,
    oldSecretKey: agent.secretKey,
    newSecretKey: next.secretKey,
    timestamp: t.clock.now(),
  });
  const answer = await t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agent.agentId, public_key: next.publicKey, succession },
  });
  expect(answer.status).toBe(200);
  return { ...agent, secretKey: next.secretKey, publicKey: next.publicKey };
}

describe("HO18 sign-in by the first message", () => {
  test("a device that signs in by its first message is accepted within 5 s", async () => {
    const own = await t.createAgent();
    const device = await t.connect(own);
    await t.clock.advance(4_999);
    device.send({ type: "auth", token: await t.token(own) });
    expect(await device.next("ready")).toMatchObject({ device_id: own.deviceId, pending: 0 });
    await t.clock.advance(10_000);
    expect(await isOnline(own)).toBe(true);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
  });

  test("the socket of a device is closed with 4401 when it has not signed in after 5 s", async () => {
    const own = await t.createAgent();
    const device = await t.connect(own);
    await t.clock.advance(4_999);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    await t.clock.advance(1);
    expect(await device.closed).toEqual({ code: 4_401, reason: "not signed in within 5 s" });
  });

  const refused: [string, (own: TestAgent) => string | Promise<string>][] = [
    ["junk", () => "junk"],
    ["an empty token", () => ""],
    ["a malformed token", () => "a.b.c"],
    ["another agent's token", async () => t.token(await t.createAgent())],
    ["a token without the scope of sockets", (own) => t.token(own, ["task:read"])],
    ["a stranger's token", () => t.token(t.createUnknownAgent())],
    [
      "a token signed by another key",
      (own) => t.token({ ...own, secretKey: t.createUnknownAgent().secretKey }),
    ],
  ];
  test.each(refused)("the socket of a device is closed with 4401 for %s", async (_, mint) => {
    const own = await t.createAgent();
    const device = await t.connect(own);
    device.send({ type: "auth", token: await mint(own) });
    expect(await device.closed).toMatchObject({ code: 4_401 });
    expect(await isOnline(own)).toBe(false);
  });

  test.each<[string, string | Buffer]>([
    ["a claim", '{"type":"claim","task_id":"t"}'],
    ["a ping", '{"type":"ping"}'],
    ["no JSON", "hello"],
    ["an unknown message", '{"type":"hello"}'],
    ["a binary frame", Buffer.from([1, 2, 3])],
  ])(
    "the socket of a device is closed with 4401 for %s before it has signed in",
    async (_, message) => {
      const device = await t.connect(await t.createAgent());
      device.send(message);
      expect(await device.closed).toEqual({ code: 4_401, reason: "sign in first" });
    },
  );

  test("HO10 a device receives nothing until it has signed in", async () => {
    const [boss, own] = [await t.createAgent(), await createSeller(t, 0)];
    const device = await t.connect(own);
    await submitAcceptedTask(t, boss, own);
    expect(await device.takeRemaining()).toEqual([]);
  });
});

describe("HO18 ends of tokens", () => {
  test("the end of a token closes its socket with 4401 at that moment", async () => {
    const own = await t.createAgent();
    const device = await t.connectDevice(own);
    await t.advance(299_999);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    await t.advance(1);
    expect(await device.closed).toEqual({ code: 4_401, reason: "token expired" });
    await settleEventLoop();
    expect(await isOnline(own)).toBe(false);
  });

  test("the end of a token does not close a socket that got a fresh one, and `ready` is sent only once", async () => {
    const own = await t.createAgent();
    const device = await t.connectDevice(own);
    for (let i = 0; i < 3; i++) {
      await t.advance(200_000);
      device.send({ type: "auth", token: await t.token(own) });
      await settleEventLoop();
    }
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    expect(await device.takeRemaining()).toEqual([]);
    expect(t.listLogged("ws.connected")).toHaveLength(1);
  });

  const others: [string, (own: TestAgent) => Promise<string>][] = [
    ["another agent", async () => t.token(await t.createAgent())],
    ["the agent without the scope", (own) => t.token(own, ["task:read"])],
    ["another device, of which there is none", (own) => t.token({ ...own, deviceId: "d" })],
  ];
  test.each(others)(
    "a token is not prolonged by a token of %s: the socket closes with 4401",
    async (_, mint) => {
      const own = await t.createAgent();
      const device = await t.connectDevice(own);
      device.send({ type: "auth", token: await mint(own) });
      expect(await device.closed).toMatchObject({ code: 4_401 });
    },
  );

  test("an agent's token does not take over the operator's socket", async () => {
    const own = await t.createAgent();
    const device = await t.connectDevice(own, OPERATOR_TOKEN);
    device.send({ type: "auth", token: await t.token(own) });
    expect(await device.closed).toMatchObject({ code: 4_401 });
  });
});

describe("a key that is rotated", () => {
  test("a rotation of the key closes the sockets of the old key with 4401, and those of others stay open", async () => {
    const [own, other] = [await t.createAgent(), await t.createAgent()];
    const [device, bystander] = [await t.connectDevice(own), await t.connectDevice(other)];
    const renewed = await rotate(own);
    expect(await device.closed).toEqual({ code: 4_401, reason: "key changed" });
    expect(bystander.socket.readyState).toBe(bystander.socket.OPEN);
    await t.connectDevice(renewed);
  });

  test("a message that a device under the old key sends after the close has no effect", async () => {
    const [boss, own] = [await t.createAgent(), await createSeller(t, 0)];
    const device = await t.connectDevice(own);
    const task = await submitAcceptedTask(t, boss, own);
    await device.next("task_assigned");
    // A paused device does not answer the close, so the relay still reads its messages.
    device.socket.pause();
    await rotate(own);
    device.send({ type: "claim", task_id: task.task_id });
    await settleEventLoop();
    const { body } = await t.as(boss, "GET", task.path);
    expect(body["task"]).toMatchObject({ status: "pending" });
  });
});

test("a frozen relay reports the freeze and its reason to its devices, and their sockets stay open", async () => {
  await t.close();
  t = await serveTestRelay({ AGENT_TASK_TTL_MS: "60000" });
  const [boss, own] = [await t.createAgent(), await t.createAgent()];
  const device = await t.connectDevice(own);
  const task = await submitAcceptedTask(t, boss, own);
  const { task_id } = task;
  await device.next("task_assigned");
  await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  const message = "Relay is frozen by its operator: an audit";
  const refusal = { task_id, code: "server.frozen", message };
  device.send({ type: "claim", task_id });
  expect(await device.next("error")).toMatchObject(refusal);
  const receipt = { ...createReceipt(own, task) };
  // The lifetime of the task is frozen together with the relay.
  await t.clock.advance(60_000);
  device.send({ type: "result", task_id, receipt });
  expect(await device.next("result_refused")).toMatchObject(refusal);
  const later = await t.connectDevice(own);
  await later.next("task_assigned");
  await t.asOperator("POST", "/api/v1/admin/unfreeze");
  device.send({ type: "result", task_id, receipt });
  expect(await device.next("result_accepted")).toMatchObject({ task_id, status: "completed" });
  expect(t.listLogged("ws.failed")).toEqual([]);
});

describe("IN1 messages outside the contract", () => {
  const deep = `{"type":"result","task_id":"t","receipt":${'{"a":'.repeat(70)}1${"}".repeat(71)}`;
  test.each<[string, string | Buffer, string]>([
    ["no JSON", "{", "request.malformed_json"],
    ["an array", "[]", "request.invalid"],
    ["null", "null", "request.invalid"],
    ["nothing", "", "request.invalid"],
    ["an unknown type", '{"type":"subscribe","agent_id":"x"}', "request.invalid"],
    ["a type of the relay's", '{"type":"ready","agent_id":"x"}', "request.invalid"],
    ["a claim of no task", '{"type":"claim"}', "request.invalid"],
    ["a claim of a number", '{"type":"claim","task_id":5}', "request.invalid"],
    [
      "a claim of 1 MB",
      JSON.stringify({ type: "claim", task_id: "t".repeat(1e6) }),
      "request.invalid",
    ],
    [
      "a receipt that is a text",
      '{"type":"result","task_id":"t","receipt":"r"}',
      "request.invalid",
    ],
    ["a receipt that is a list", '{"type":"result","task_id":"t","receipt":[]}', "request.invalid"],
    [
      "capabilities that are a text",
      '{"type":"capabilities","capabilities":"x"}',
      "request.invalid",
    ],
    ["JSON deeper than 64", deep, "request.too_deep"],
    ["100,000 levels", "[".repeat(100_000), "request.malformed_json"],
    ["a binary frame", Buffer.from('{"type":"ping"}'), "request.invalid"],
    ["__proto__", '{"__proto__":{"type":"ping"}}', "request.invalid"],
  ])("a message outside the contract is answered by an error: %s", async (_, message, code) => {
    const device = await t.connectDevice(await t.createAgent());
    device.send(message);
    expect(await device.next("error")).toMatchObject({ code });
    device.send({ type: "ping" });
    await device.next("pong");
    expect(t.listLogged("ws.failed")).toEqual([]);
  });

  test("a message outside the contract is answered with the name of its faulty member", async () => {
    const device = await t.connectDevice(await t.createAgent());
    device.send('{"type":"claim","task_id":5}');
    expect(await device.next("error")).toMatchObject({
      message: "Invalid request: task_id must be string",
    });
  });
});

describe("HO10 the limits of a socket", () => {
  test("the 101st message within 10 s is refused, and the 121st closes the socket with 4429", async () => {
    await t.close();
    t = await serveTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const own = await t.createAgent();
    const device = await t.connectDevice(own);
    for (let i = 0; i < 120; i++) device.send({ type: "ping" });
    for (let i = 0; i < 100; i++) await device.next("pong");
    for (let i = 0; i < 20; i++) {
      expect(await device.next("error")).toMatchObject({ code: "rate.exceeded" });
    }
    device.send({ type: "ping" });
    expect(await device.closed).toEqual({ code: 4_429, reason: "too many messages" });
    await settleEventLoop();
    expect(await isOnline(own)).toBe(false);
  });

  test("messages are accepted again after 10 s", async () => {
    await t.close();
    t = await serveTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const device = await t.connectDevice(await t.createAgent());
    for (let i = 0; i < 101; i++) device.send({ type: "ping" });
    for (let i = 0; i < 100; i++) await device.next("pong");
    await device.next("error");
    await t.clock.advance(10_000);
    device.send({ type: "ping" });
    expect(await device.next("pong")).toEqual({ type: "pong" });
  });

  test("a frame of 1 MiB is read, and one byte more closes the socket with 1009", async () => {
    const own = await t.createAgent();
    const device = await t.connectDevice(own);
    device.send("x".repeat(limits.socketFrameBytes));
    expect(await device.next("error")).toMatchObject({ code: "request.malformed_json" });
    device.send("x".repeat(limits.socketFrameBytes + 1));
    expect(await device.closed).toMatchObject({ code: 1_009 });
    await settleEventLoop();
    expect(await isOnline(own)).toBe(false);
  });

  test("a 10 MB message in many fragments closes the socket with 1009 as well", async () => {
    const device = await t.connectDevice(await t.createAgent());
    for (let i = 0; i < 10; i++) device.socket.send("x".repeat(1_000_000), { fin: i === 9 });
    expect(await device.closed).toMatchObject({ code: 1_009 });
  });

  test("a client that never reads is cut off once 4 MiB wait for it, and receives no more", async () => {
    const [boss, own] = [await t.createAgent(), await createSeller(t, 0)];
    const device = await t.connectDevice(own);
    device.socket.pause();
    const prompt = "x".repeat(limits.promptBytes);
    let receivedCount = 0;
    while ((await isOnline(own)) && receivedCount < 100) {
      await submitAcceptedTask(t, boss, own, { prompt });
      await settleEventLoop();
      receivedCount += 1;
    }
    // The operating system's buffers add to the 4 MiB.
    expect(receivedCount).toBeGreaterThan(16);
    expect(receivedCount).toBeLessThan(60);
    expect(t.listLogged("ws.reads_too_slowly")).toMatchObject([{ agent_id: own.agentId }]);
    device.socket.resume();
    expect(await device.closed).toMatchObject({ code: 1_006 });
  });
});

test("HO17 a socket that ends in any way leaves no timer behind, and its agent is offline", async () => {
  const own = await t.createAgent();
  // The first rounds of the jobs set their timers only after they have ended.
  await settleEventLoop();
  const before = t.clock.pending().length;
  const ends: ((device: Awaited<ReturnType<ServedRelay["connectDevice"]>>) => void)[] = [
    ({ socket }) => socket.close(1_000),
    ({ socket }) => socket.close(4_000, "bye"),
    ({ socket }) => socket.terminate(),
    (device) => device.send({ type: "auth", token: "junk" }),
    (device) => device.send("x".repeat(limits.socketFrameBytes + 1)),
  ];
  for (let i = 0; i < 3; i++) {
    const devices = await Promise.all(ends.map(() => t.connectDevice(own)));
    expect(await isOnline(own)).toBe(true);
    devices.forEach((device, at) => ends[at]?.(device));
    await Promise.all(devices.map(({ closed }) => closed));
    await settleEventLoop();
    expect(await isOnline(own)).toBe(false);
    // On PostgreSQL what is online is written every 100 ms.
    await t.clock.advance(100);
    expect(t.clock.pending()).toHaveLength(before);
  }
});

test("a device that disconnects while it signs in leaves nothing behind", async () => {
  const own = await t.createAgent();
  const token = await t.token(own);
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const device = await t.connect(own);
      device.send({ type: "auth", token });
      device.socket.terminate();
      await device.closed;
    }),
  );
  await settleEventLoop();
  expect(await isOnline(own)).toBe(false);
  expect(t.listLogged("ws.failed")).toEqual([]);
});
