import { signSuccession } from "@agent/crypto";
import { receiptOf, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quiet, serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { delegate, seller } from "../../test/market.ts";
import { masterToken } from "../../test/test-relay.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

async function isOnline({ agentId }: TestAgent): Promise<boolean> {
  const { body } = await t.asMaster("GET", `/api/v1/agents/${agentId}`);
  return body["online"] as boolean;
}

/** Gives the agent a new key, which its old one hands over to. */
async function rotate(agent: TestAgent): Promise<TestAgent> {
  const next = t.stranger();
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

describe("HO18 a device that signs in by its first message", () => {
  test("is taken within 5 s", async () => {
    const own = await t.agent();
    const device = await t.dial(own);
    await t.clock.advance(4_999);
    device.say({ type: "auth", token: await t.token(own) });
    expect(await device.next("ready")).toMatchObject({ device_id: own.deviceId, pending: 0 });
    await t.clock.advance(10_000);
    expect(await isOnline(own)).toBe(true);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
  });

  test("is closed with 4401 when it has not done so after 5 s", async () => {
    const own = await t.agent();
    const device = await t.dial(own);
    await t.clock.advance(4_999);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    await t.clock.advance(1);
    expect(await device.closed).toEqual({ code: 4_401, reason: "not signed in within 5 s" });
  });

  const refused: [string, (own: TestAgent) => string | Promise<string>][] = [
    ["junk", () => "junk"],
    ["an empty token", () => ""],
    ["a malformed token", () => "a.b.c"],
    ["another agent's token", async () => t.token(await t.agent())],
    ["a token without the scope of sockets", (own) => t.token(own, ["task:read"])],
    ["a stranger's token", () => t.token(t.stranger())],
    [
      "a token signed by another key",
      (own) => t.token({ ...own, secretKey: t.stranger().secretKey }),
    ],
  ];
  test.each(refused)("is closed with 4401 for %s", async (_, mint) => {
    const own = await t.agent();
    const device = await t.dial(own);
    device.say({ type: "auth", token: await mint(own) });
    expect(await device.closed).toMatchObject({ code: 4_401 });
    expect(await isOnline(own)).toBe(false);
  });

  test.each<[string, string | Buffer]>([
    ["a claim", '{"type":"claim","task_id":"t"}'],
    ["a ping", '{"type":"ping"}'],
    ["no JSON", "hello"],
    ["an unknown message", '{"type":"hello"}'],
    ["a binary frame", Buffer.from([1, 2, 3])],
  ])("is closed with 4401 for %s before it has signed in", async (_, message) => {
    const device = await t.dial(await t.agent());
    device.say(message);
    expect(await device.closed).toEqual({ code: 4_401, reason: "sign in first" });
  });

  test("HO10 is told nothing until it has", async () => {
    const [boss, own] = [await t.agent(), await seller(t, 0)];
    const device = await t.dial(own);
    await delegate(t, boss, own);
    expect(await device.rest()).toEqual([]);
  });
});

describe("HO18 a token that ends", () => {
  test("closes its socket with 4401 at that moment", async () => {
    const own = await t.agent();
    const device = await t.device(own);
    await t.pass(299_999);
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    await t.pass(1);
    expect(await device.closed).toEqual({ code: 4_401, reason: "token expired" });
    expect(await isOnline(own)).toBe(false);
  });

  test("does not when a fresh one has come before; there is one `ready` all the same", async () => {
    const own = await t.agent();
    const device = await t.device(own);
    for (let i = 0; i < 3; i++) {
      await t.pass(200_000);
      device.say({ type: "auth", token: await t.token(own) });
      await quiet();
    }
    expect(device.socket.readyState).toBe(device.socket.OPEN);
    expect(await device.rest()).toEqual([]);
    expect(t.logged("ws.connected")).toHaveLength(1);
  });

  const others: [string, (own: TestAgent) => Promise<string>][] = [
    ["another agent", async () => t.token(await t.agent())],
    ["the agent without the scope", (own) => t.token(own, ["task:read"])],
    ["another device, of which there is none", (own) => t.token({ ...own, deviceId: "d" })],
  ];
  test.each(others)("is not prolonged by a token of %s: 4401", async (_, mint) => {
    const own = await t.agent();
    const device = await t.device(own);
    device.say({ type: "auth", token: await mint(own) });
    expect(await device.closed).toMatchObject({ code: 4_401 });
  });

  test("a socket of the operator is no device's: an agent's token does not take it over", async () => {
    const own = await t.agent();
    const device = await t.device(own, masterToken);
    device.say({ type: "auth", token: await t.token(own) });
    expect(await device.closed).toMatchObject({ code: 4_401 });
  });
});

describe("a key that is handed over", () => {
  test("closes the sockets of the old one with 4401; those of others stay", async () => {
    const [own, other] = [await t.agent(), await t.agent()];
    const [device, bystander] = [await t.device(own), await t.device(other)];
    const renewed = await rotate(own);
    expect(await device.closed).toEqual({ code: 4_401, reason: "key changed" });
    expect(bystander.socket.readyState).toBe(bystander.socket.OPEN);
    await t.device(renewed);
  });

  test("what the old one's device still says after the close does not count", async () => {
    const [boss, own] = [await t.agent(), await seller(t, 0)];
    const device = await t.device(own);
    const task = await delegate(t, boss, own);
    await device.next("task_assigned");
    // Deaf, it does not answer the close, so that the relay goes on hearing it.
    device.socket.pause();
    await rotate(own);
    device.say({ type: "claim", task_id: task.task_id });
    await quiet();
    const { body } = await t.as(boss, "GET", task.path);
    expect(body["task"]).toMatchObject({ status: "pending" });
  });
});

test("a frozen relay tells its devices so, and their sockets live on", async () => {
  await t.close();
  t = await serveTestRelay({ AGENT_TASK_TTL_MS: "60000" });
  const [boss, own] = [await t.agent(), await t.agent()];
  const device = await t.device(own);
  const task = await delegate(t, boss, own);
  const { task_id } = task;
  await device.next("task_assigned");
  await t.asMaster("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  const told = { task_id, code: "server.frozen" };
  device.say({ type: "claim", task_id });
  expect(await device.next("error")).toMatchObject(told);
  const receipt = { ...receiptOf(own, task) };
  // The task's time stands still with the relay.
  await t.clock.advance(60_000);
  device.say({ type: "result", task_id, receipt });
  expect(await device.next("result_refused")).toMatchObject(told);
  const later = await t.device(own);
  await later.next("task_assigned");
  await t.asMaster("POST", "/api/v1/admin/unfreeze");
  device.say({ type: "result", task_id, receipt });
  expect(await device.next("result_accepted")).toMatchObject({ task_id, status: "completed" });
  expect(t.logged("ws.failed")).toEqual([]);
});

describe("IN1 what is no message of the contract is answered by an error, and the socket lives on", () => {
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
  ])("%s", async (_, message, code) => {
    const device = await t.device(await t.agent());
    device.say(message);
    expect(await device.next("error")).toMatchObject({ code });
    device.say({ type: "ping" });
    await device.next("pong");
    expect(t.logged("ws.failed")).toEqual([]);
  });

  test("is told which member of it is wrong", async () => {
    const device = await t.device(await t.agent());
    device.say('{"type":"claim","task_id":5}');
    expect(await device.next("error")).toMatchObject({
      message: "Invalid request: task_id has to be string",
    });
  });
});

describe("HO10 limits of a socket", () => {
  test("the 101st message within 10 s is refused, the 121st closes with 4429", async () => {
    await t.close();
    t = await serveTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const own = await t.agent();
    const device = await t.device(own);
    for (let i = 0; i < 120; i++) device.say({ type: "ping" });
    for (let i = 0; i < 100; i++) await device.next("pong");
    for (let i = 0; i < 20; i++) {
      expect(await device.next("error")).toMatchObject({ code: "rate.exceeded" });
    }
    device.say({ type: "ping" });
    expect(await device.closed).toEqual({ code: 4_429, reason: "too many messages" });
    expect(await isOnline(own)).toBe(false);
  });

  test("after 10 s the device is heard again", async () => {
    await t.close();
    t = await serveTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const device = await t.device(await t.agent());
    for (let i = 0; i < 101; i++) device.say({ type: "ping" });
    for (let i = 0; i < 100; i++) await device.next("pong");
    await device.next("error");
    await t.clock.advance(10_000);
    device.say({ type: "ping" });
    expect(await device.next("pong")).toEqual({ type: "pong" });
  });

  test("a frame of 1 MiB is read, one byte more closes with 1009", async () => {
    const own = await t.agent();
    const device = await t.device(own);
    device.say("x".repeat(limits.socketFrameBytes));
    expect(await device.next("error")).toMatchObject({ code: "request.malformed_json" });
    device.say("x".repeat(limits.socketFrameBytes + 1));
    expect(await device.closed).toMatchObject({ code: 1_009 });
    await quiet();
    expect(await isOnline(own)).toBe(false);
  });

  test("a 10 MB message in many fragments is closed with 1009 as well", async () => {
    const device = await t.device(await t.agent());
    for (let i = 0; i < 10; i++) device.socket.send("x".repeat(1_000_000), { fin: i === 9 });
    expect(await device.closed).toMatchObject({ code: 1_009 });
  });

  test("a reader that never reads is cut off once 4 MiB wait for it, and gets no more", async () => {
    const [boss, own] = [await t.agent(), await seller(t, 0)];
    const device = await t.device(own);
    device.socket.pause();
    const prompt = "x".repeat(limits.promptBytes);
    let told = 0;
    while ((await isOnline(own)) && told < 100) {
      await delegate(t, boss, own, { prompt });
      await quiet();
      told += 1;
    }
    // What the operating system buffers comes on top of the 4 MiB.
    expect(told).toBeGreaterThan(16);
    expect(told).toBeLessThan(60);
    expect(t.logged("ws.reads_too_slowly")).toMatchObject([{ agent_id: own.agentId }]);
    device.socket.resume();
    expect(await device.closed).toMatchObject({ code: 1_006 });
  });
});

test("HO17 however a socket ends, nothing of it is kept: its agent is offline and no timer waits", async () => {
  const own = await t.agent();
  const before = t.clock.pending().length;
  const ends: ((device: Awaited<ReturnType<ServedRelay["device"]>>) => void)[] = [
    ({ socket }) => socket.close(1_000),
    ({ socket }) => socket.close(4_000, "bye"),
    ({ socket }) => socket.terminate(),
    (device) => device.say({ type: "auth", token: "junk" }),
    (device) => device.say("x".repeat(limits.socketFrameBytes + 1)),
  ];
  for (let i = 0; i < 3; i++) {
    const devices = await Promise.all(ends.map(() => t.device(own)));
    expect(await isOnline(own)).toBe(true);
    devices.forEach((device, at) => ends[at]?.(device));
    await Promise.all(devices.map(({ closed }) => closed));
    await quiet();
    expect(await isOnline(own)).toBe(false);
    expect(t.clock.pending()).toHaveLength(before);
  }
});

test("a device that goes away while it signs in is forgotten", async () => {
  const own = await t.agent();
  const token = await t.token(own);
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const device = await t.dial(own);
      device.say({ type: "auth", token });
      device.socket.terminate();
      await device.closed;
    }),
  );
  await quiet();
  expect(await isOnline(own)).toBe(false);
  expect(t.logged("ws.failed")).toEqual([]);
});
