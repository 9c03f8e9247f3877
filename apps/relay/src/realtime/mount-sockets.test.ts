import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  settleEventLoop,
  requestRefusedUpgrade,
  serveTestRelay,
  socketUrl,
  type ServedRelay,
} from "../../test/devices.ts";
import { OPERATOR_TOKEN, processCount } from "../../test/test-relay.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

describe("AC1 a token in the upgrade's header", () => {
  const refused: [
    string,
    number,
    (own: Parameters<ServedRelay["token"]>[0]) => string | Promise<string>,
  ][] = [
    ["that is neither the operator's nor a signed one", 403, () => "junk"],
    ["that is shaped like a signed one and is none", 401, () => "a.b.c"],
    ["of another agent", 403, async () => t.token(await t.createAgent())],
    ["without the scope of sockets", 403, (own) => t.token(own, ["task:read"])],
    ["of a stranger", 403, () => t.token(t.createUnknownAgent())],
    [
      "that names another agent's device",
      403,
      async (own) => t.token({ ...own, agentId: (await t.createAgent()).agentId }),
    ],
    [
      "signed by another key",
      401,
      async (own) => t.token({ ...own, secretKey: t.createUnknownAgent().secretKey }),
    ],
    [
      "that has ended",
      401,
      async (own) => {
        const token = await t.token(own);
        await t.clock.advance(300_000);
        return token;
      },
    ],
  ];

  test.each(refused)(
    "a token %s is refused with %i, and no socket is opened",
    async (_, status, mint) => {
      const own = await t.createAgent();
      const authorization = `Bearer ${await mint(own)}`;
      const url = socketUrl(t.baseUrl, own.agentId);
      const answer = await requestRefusedUpgrade(url, { authorization });
      expect(answer.status).toBe(status);
      expect(answer.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
      expect(t.listLogged("ws.connected")).toEqual([]);
    },
  );

  test("a token in the upgrade's header opens the socket for the agent itself and for its device", async () => {
    const own = await t.createAgent();
    const headers = { authorization: `Bearer ${await t.token(own, ["socket"])}` };
    const device = await t.connect(own, { headers });
    expect(await device.next("ready")).toEqual({
      type: "ready",
      agent_id: own.agentId,
      device_id: own.deviceId,
      pending: 0,
    });
    expect(t.listLogged("ws.connected")).toMatchObject([{ agent_id: own.agentId }]);
  });

  test("a token in the upgrade's header counts from the first message on, even before the `ready`", async () => {
    const own = await t.createAgent();
    const headers = { authorization: `Bearer ${await t.token(own)}` };
    const device = await t.connect(own, { headers });
    device.send({ type: "ping" });
    const received = await device.takeRemaining();
    expect(new Set(received.map(({ type }) => type))).toEqual(new Set(["ready", "pong"]));
  });

  test("the operator's token opens the socket of any agent", async () => {
    const { agentId } = await t.createAgent();
    const device = await t.connect(
      { agentId },
      { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } },
    );
    expect(await device.next("ready")).toMatchObject({ agent_id: agentId, device_id: null });
  });
});

test("a refused upgrade is answered like any other refusal, by an error body with its request id", async () => {
  const { agentId } = await t.createAgent();
  const url = socketUrl(t.baseUrl, agentId);
  const named = await requestRefusedUpgrade(url, {
    authorization: "Bearer junk",
    "x-request-id": "upgrade-1",
  });
  const message = "Invalid token";
  expect(named).toMatchObject({
    status: 403,
    headers: { "content-type": "application/json", "x-request-id": "upgrade-1" },
    body: { error: message, message, code: "auth.unknown_token", status: 403 },
  });
  expect(named.body["request_id"]).toBe("upgrade-1");
  const unnamed = await requestRefusedUpgrade(url, {
    authorization: "Bearer junk",
    "x-request-id": "?",
  });
  expect(unnamed.headers["x-request-id"]).toBe(unnamed.body["request_id"]);
  expect(unnamed.body["request_id"]).not.toBe("?");
});

test("an upgrade that offers another protocol is accepted without that protocol", async () => {
  const { port } = new URL(t.baseUrl);
  const headers = { connection: "upgrade", upgrade: "h2c" };
  const asked = request({ port, path: "/health", headers }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  expect(JSON.parse(await text(answer))).toMatchObject({ status: "ok" });
});

test.each(["/ws/v1/agents", "/ws/v1/agents/a/b", "/ws/v2/agents/a"])(
  "AC8 there is no socket at %s",
  async (path) => {
    const url = `${t.baseUrl.replace(/^http/, "ws")}${path}`;
    const authorization = `Bearer ${OPERATOR_TOKEN}`;
    expect(await requestRefusedUpgrade(url, { authorization })).toMatchObject({ status: 404 });
  },
);

test("a plain request to the socket's path is answered with 404", async () => {
  const { agentId } = await t.createAgent();
  const answer = await t.asOperator("GET", `/ws/v1/agents/${agentId}`);
  expect(answer).toMatchObject({ status: 404, body: { code: "route.not_found" } });
});

test("the 31st upgrade in a minute is refused with 429 and the time after which to retry", async () => {
  await t.close();
  t = await serveTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
  const url = socketUrl(t.baseUrl, "some-agent");
  const authorization = "Bearer junk";
  for (let i = 0; i < 30 * processCount; i++) {
    expect(await requestRefusedUpgrade(url, { authorization })).toMatchObject({ status: 403 });
  }
  expect(await requestRefusedUpgrade(url, { authorization })).toMatchObject({
    status: 429,
    headers: { "retry-after": "60" },
  });
});

describe("HO15 shutdown", () => {
  test("a relay that shuts down notifies every device, closes with 1001 and accepts no new socket", async () => {
    const [a, b] = [await t.createAgent(), await t.createAgent()];
    const devices = [await t.connectDevice(a), await t.connectDevice(a), await t.connectDevice(b)];
    const url = socketUrl(t.baseUrl, a.agentId);
    const stopped = t.stop();
    for (const device of devices) {
      await device.next("draining");
      expect(await device.closed).toMatchObject({ code: 1_001 });
    }
    await stopped;
    expect(t.listLogged("ws.failed")).toEqual([]);
    await expect(requestRefusedUpgrade(url, {})).rejects.toThrow("ECONNREFUSED");
  });

  test("a relay that shuts down answers 503 with Retry-After while it drains", async () => {
    const own = await t.createAgent();
    await t.relay.drain();
    const answer = await requestRefusedUpgrade(socketUrl(t.baseUrl, own.agentId), {});
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "10" } });
  });

  test("a relay that shuts down waits at most its grace period for a device that does not answer the close", async () => {
    const silent = await t.connectDevice(await t.createAgent());
    // A paused socket does not answer, because it does not read.
    silent.socket.pause();
    const stopped = t.stop(8_000);
    await settleEventLoop();
    expect(silent.socket.readyState).toBe(silent.socket.OPEN);
    await t.clock.advance(8_000);
    await expect(stopped).resolves.toBeUndefined();
  });
});

describe("abandoned sockets", () => {
  test("a socket whose other side disappeared is ended after the second unanswered ping of 30 s", async () => {
    const own = await t.createAgent();
    const device = await t.connect(own, {
      autoPong: false,
      headers: { authorization: `Bearer ${await t.token(own)}` },
    });
    await device.next("ready");
    await t.clock.advance(59_999);
    expect(await t.as(own, "GET", `/api/v1/agents/${own.agentId}`)).toMatchObject({
      body: { online: true },
    });
    await t.clock.advance(1);
    expect(await device.closed).toMatchObject({ code: 1_006 });
    await settleEventLoop();
    expect(await t.as(own, "GET", `/api/v1/agents/${own.agentId}`)).toMatchObject({
      body: { online: false },
    });
  });

  test("a socket stays open while the other side answers", async () => {
    const own = await t.createAgent();
    const device = await t.connectDevice(own);
    for (let i = 0; i < 4; i++) {
      await t.clock.advance(30_000);
      await settleEventLoop();
    }
    expect(device.socket.readyState).toBe(device.socket.OPEN);
  });
});
