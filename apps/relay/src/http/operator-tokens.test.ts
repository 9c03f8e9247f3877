import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../test/devices.ts";

const [oldToken, newToken] = ["operator-token-old", "operator-token-new"];
const accounts = "/api/v1/admin/accounts";

let t: ServedRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay({ AGENT_API_TOKEN: `${oldToken},${newToken}` });
  agent = await t.createAgent();
});
afterEach(() => t.close());

const statusOf = async (token: string) => (await t.request("GET", accounts, { token })).status;

const deposit = (token: string, key: string) =>
  t.request("POST", `/api/v1/agents/${agent.agentId}/deposit`, {
    token,
    body: { amount: 5 },
    headers: { "idempotency-key": key },
  });

test("D9: each of the operator's two tokens is valid, but neither both together nor a part of one", async () => {
  expect([await statusOf(oldToken), await statusOf(newToken)]).toEqual([200, 200]);
  for (const wrong of [`${oldToken},${newToken}`, `${oldToken},`, oldToken.slice(1), "operator"]) {
    expect(await statusOf(wrong)).toBe(403);
  }
});

test("D9: the audit log names the position of the token that the operator used", async () => {
  for (const token of [oldToken, newToken]) {
    await t.request("POST", `/api/v1/agents/${agent.agentId}/webhooks`, {
      token,
      body: { url: "https://hook.example/x", events: ["task.completed"] },
    });
  }
  const audit = await t.request("GET", `/api/v1/agents/${agent.agentId}/audit`, {
    token: newToken,
  });
  const entries = audit.body["entries"] as { actor: string; action: string }[];
  expect(entries.slice(0, 2).map(({ actor, action }) => [actor, action])).toEqual([
    ["operator:2", "webhook.added"],
    ["operator:1", "webhook.added"],
  ]);
});

test("D9: a deposit that is repeated with the other token is made once", async () => {
  const first = await deposit(oldToken, "key-1");
  expect(await deposit(newToken, "key-1")).toMatchObject({ status: 200, body: first.body });
  const path = `/api/v1/agents/${agent.agentId}/balance`;
  expect((await t.request("GET", path, { token: newToken })).body["balance"]).toBe(5);
});

test("D9: a removed token is refused at once and the other one stays valid", async () => {
  t.relay.operatorTokens.replace([newToken]);
  expect(await deposit(oldToken, "key-1")).toMatchObject({ status: 403 });
  const path = `/api/v1/agents/${agent.agentId}/balance`;
  expect((await t.request("GET", path, { token: newToken })).body["balance"]).toBe(0);
  t.relay.operatorTokens.replace([newToken, oldToken]);
  expect([await statusOf(oldToken), await statusOf(newToken)]).toEqual([200, 200]);
});

test("D9: the socket of a removed token closes and that of the other token stays open", async () => {
  const removed = await t.connectDevice(agent, oldToken);
  const kept = await t.connectDevice(agent, newToken);
  const renewed = await t.connectDevice(agent, oldToken);
  renewed.send({ type: "auth", token: newToken });
  renewed.send({ type: "ping" });
  await renewed.next("pong");
  t.relay.operatorTokens.replace([newToken]);
  expect(await removed.closed).toEqual({ code: 4401, reason: "token removed" });
  for (const device of [kept, renewed]) {
    device.send({ type: "ping" });
    expect(await device.next("pong")).toEqual({ type: "pong" });
  }
});

test("D9: the event stream of a removed token ends and that of the other continues", async () => {
  const [boss, worker] = [await t.createAgent(), await t.createAgent()];
  const body = { prompt: "add", submitted_by: boss.agentId };
  const path = `/agent/${worker.agentId}/task`;
  const sent = await t.request("POST", path, { token: newToken, body });
  const events = `${t.baseUrl}${path}/${String(sent.body["task_id"])}/events`;
  const open = (token: string) =>
    fetch(events, { headers: { authorization: `Bearer ${token}` } }).then((r) => r.text());
  const ended = open(oldToken);
  let isOver = false;
  const other = open(newToken).then((text) => ((isOver = true), text));
  await settleEventLoop();
  t.relay.operatorTokens.replace([newToken]);
  expect(await ended).toContain("event: submitted");
  await settleEventLoop();
  expect(isOver).toBe(false);
  await t.request("POST", `${path}/${String(sent.body["task_id"])}/cancel`, { token: newToken });
  expect(await other).toContain("event: cancelled");
});

test("D9: a request whose token is removed while its body arrives changes nothing", async () => {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  const path = `/api/v1/agents/${agent.agentId}/deposit`;
  const asked = t.request("POST", path, {
    token: oldToken,
    raw: readable,
    headers: { "content-type": "application/json" },
  });
  await writer.write(new TextEncoder().encode(`{"amount":`));
  t.relay.operatorTokens.replace([newToken]);
  await writer.write(new TextEncoder().encode(`5}`));
  await writer.close();
  expect(await asked).toMatchObject({ status: 403, body: { code: "auth.unknown_token" } });
  const balance = `/api/v1/agents/${agent.agentId}/balance`;
  expect((await t.request("GET", balance, { token: newToken })).body["balance"]).toBe(0);
});
