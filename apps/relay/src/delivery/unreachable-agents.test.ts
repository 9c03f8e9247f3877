import type { ServerResponse } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import type { OperatorAgent } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../test/devices.ts";
import {
  registerEndpoint,
  startHttpEndpoint,
  startMcpEndpoint,
  textResult,
} from "../../test/network/endpoint.ts";
import { createSeller, getTaskAt, submitAcceptedTask } from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createReceipt } from "../../test/test-relay.ts";

let folder: string;
let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
const running: { close(): Promise<void> }[] = [];
const open = (seed: number) => serveTestRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, seed);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-unreachable-"));
  t = await open(1);
  [boss, worker] = [await t.createAgent(), await createSeller(t, 0)];
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
  await t.close();
  rmSync(folder, { recursive: true });
});

function closedAfter<C extends { close(): Promise<void> }>(one: C): C {
  running.push(one);
  return one;
}

/** Returns whether each view shows the worker as online, and the availability by which it is ranked. */
async function shown(): Promise<readonly unknown[]> {
  const path = `/api/v1/agents/${worker.agentId}`;
  const market = await t.asOperator("GET", "/api/v1/market/candidates?capability=summarise");
  const [candidate] = market.body["candidates"] as {
    online: boolean;
    sub_scores: { availability: number };
  }[];
  const state = await t.asOperator("GET", `${path}/state`);
  const entry = await t.asOperator("GET", path);
  return [
    state.body["online"],
    entry.body["online"],
    candidate?.online,
    candidate?.sub_scores.availability,
  ];
}
async function getUnreachableAt(): Promise<unknown> {
  const { body } = await t.asOperator("GET", `/api/v1/admin/agents?q=${worker.agentId}`);
  return (body["agents"] as OperatorAgent[])[0]?.unreachable_at;
}

const ONLINE = [true, true, true, 1];
const OFFLINE = [false, false, false, 0.45];

/** Nothing listens at the endpoint any more. */
async function registerDeadEndpoint(): Promise<string> {
  const endpoint = await startHttpEndpoint(() => {});
  await endpoint.close();
  await registerEndpoint(t, worker, endpoint.url);
  return endpoint.url;
}

test("G5: a forward to an endpoint without MCP takes the agent offline until its next sign of life", async () => {
  const url = await registerDeadEndpoint();
  expect(await shown()).toEqual(ONLINE);
  const task = await submitAcceptedTask(t, boss, worker);
  await expect.poll(shown).toEqual(OFFLINE);
  expect(await getUnreachableAt()).toBe(t.clock.now());
  const heartbeat = { agent_id: worker.agentId };
  expect((await t.as(worker, "POST", "/api/v1/agents/heartbeat", heartbeat)).status).toBe(200);
  expect(await shown()).toEqual(ONLINE);
  expect(await getUnreachableAt()).toBeNull();
  await t.advance(60_000);
  await expect.poll(shown).toEqual(OFFLINE);
  // A waiting task would be forwarded at once, and fail again.
  await t.as(boss, "POST", `${task.path}/cancel`);
  await registerEndpoint(t, worker, url);
  expect(await shown()).toEqual(ONLINE);
});

test("G5: an endpoint that answers something else than MCP takes its agent offline, also after a restart", async () => {
  const page = closedAfter(await startHttpEndpoint((_, response) => response.end("<html>")));
  await registerEndpoint(t, worker, page.url);
  await submitAcceptedTask(t, boss, worker);
  await expect.poll(shown).toEqual(OFFLINE);
  await t.stop();
  t = await open(2);
  expect(await shown()).toEqual(OFFLINE);
});

test("G5: any answer of an MCP server is a sign of life, even if its tool fails", async () => {
  let isUp = false;
  const endpoint = closedAfter(
    await startMcpEndpoint(
      () => ({ isError: true, content: [] }),
      () => isUp,
    ),
  );
  await registerEndpoint(t, worker, endpoint.url);
  await submitAcceptedTask(t, boss, worker);
  await expect.poll(shown).toEqual(OFFLINE);
  isUp = true;
  await t.advance(60_000);
  await expect.poll(shown).toEqual(ONLINE);
});

test("G5: an agent with a socket stays online while its endpoint is dead", async () => {
  await registerDeadEndpoint();
  await submitAcceptedTask(t, boss, worker);
  await expect.poll(shown).toEqual(OFFLINE);
  const device = await t.connectDevice(worker);
  expect(await shown()).toEqual(ONLINE);
  device.socket.close();
  await device.closed;
});

test("G5: an endpoint that needs longer than the task's own limit stays online", async () => {
  const endpoint = closedAfter(await startMcpEndpoint(() => new Promise(() => {})));
  await registerEndpoint(t, worker, endpoint.url);
  const task = await submitAcceptedTask(t, boss, worker, { wall_clock_ms: 20_000 });
  await expect.poll(() => endpoint.calls).toHaveLength(1);
  await t.clock.advance(20_000);
  await expect.poll(async () => (await getTaskAt(t, task.path)).status).toBe("pending");
  expect(await shown()).toEqual(ONLINE);
});

test("G5: an endpoint that works and one that refuses a task stay online", async () => {
  const endpoint = closedAfter(
    await startMcpEndpoint(({ relay_task_id: task_id, prompt }) => {
      const task = { task_id, prompt, submitted_at: t.clock.now() };
      return prompt === "fail"
        ? { isError: true, content: [] }
        : textResult(JSON.stringify(createReceipt(worker, task)));
    }),
  );
  await registerEndpoint(t, worker, endpoint.url);
  const done = await submitAcceptedTask(t, boss, worker);
  await expect.poll(async () => (await getTaskAt(t, done.path)).status).toBe("completed");
  await submitAcceptedTask(t, boss, worker, { prompt: "fail" });
  await expect.poll(() => endpoint.calls).toHaveLength(2);
  expect(await shown()).toEqual(ONLINE);
});

test("an agent that closes its socket properly is offline at once, and online again at its next sign of life", async () => {
  const endpoint = closedAfter(await startHttpEndpoint(() => {}));
  await registerEndpoint(t, worker, endpoint.url);
  const device = await t.connectDevice(worker);
  device.socket.close(1_000);
  await expect.poll(shown).toEqual(OFFLINE);
  const discover = "/api/v1/agents/discover?capability=summarise";
  const found = await t.asOperator("GET", discover);
  expect(found.body).toMatchObject({ agents: [{ online: false, freshness: "awake" }] });
  const heartbeat = { agent_id: worker.agentId };
  await t.as(worker, "POST", "/api/v1/agents/heartbeat", heartbeat);
  expect(await shown()).toEqual(ONLINE);
});

test("an agent stays online if it lost its connection, has another open socket, or the relay closed its socket", async () => {
  const endpoint = closedAfter(await startHttpEndpoint(() => {}));
  await registerEndpoint(t, worker, endpoint.url);
  const lost = await t.connectDevice(worker);
  lost.socket.terminate();
  await lost.closed;
  await settleEventLoop();
  expect(await shown()).toEqual(ONLINE);
  const [first, second] = [await t.connectDevice(worker), await t.connectDevice(worker)];
  first.socket.close(1_000);
  await first.closed;
  await settleEventLoop();
  await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/revoke-tokens`, { jtis: ["one"] });
  await second.closed;
  await settleEventLoop();
  expect(await shown()).toEqual(ONLINE);
});

test("a paired device that closes its socket does not take its agent offline", async () => {
  const endpoint = closedAfter(await startHttpEndpoint(() => {}));
  await registerEndpoint(t, worker, endpoint.url);
  const phone = await t.connectDevice(await createPairedDevice(t, worker));
  phone.socket.close(1_000);
  await phone.closed;
  await settleEventLoop();
  expect(await shown()).toEqual(ONLINE);
});

type AnswerCall = (response: ServerResponse, body: string) => unknown;

/** Starts an MCP server that answers a tool call in the given way, and all other requests properly. */
async function startPickyEndpoint(answerCall: AnswerCall) {
  const mcp = closedAfter(await startMcpEndpoint(() => ({ isError: true, content: [] })));
  return closedAfter(
    await startHttpEndpoint(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      if (body.includes('"tools/call"')) return answerCall(response, body);
      const headers = new Headers(request.headers as Record<string, string>);
      headers.delete("content-length");
      const hasBody = request.method === "POST";
      const init = { method: request.method ?? "", headers, ...(hasBody && { body }) };
      // A test may end, and close the server, while a request is on its way.
      const answer = await fetch(mcp.url, init).catch(() => undefined);
      if (answer === undefined) return response.destroy();
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "",
      });
      return response.end(await answer.text());
    }),
  );
}

const failedAnswers: [string, AnswerCall][] = [
  ["413", (response) => response.writeHead(413).end()],
  ["500", (response) => response.writeHead(500).end()],
  ["a closed connection", (response) => response.destroy()],
  [
    "an error of JSON-RPC",
    (response, body) => {
      const { id } = JSON.parse(body) as { id: number };
      const error = { code: -32_603, message: "broken" };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
    },
  ],
];

/** Starts an endpoint that has failed another submitter's task with this answer. */
async function failForAttacker(answer: AnswerCall) {
  const picky = await startPickyEndpoint(answer);
  await registerEndpoint(t, worker, picky.url);
  const attacker = await t.createAgent();
  await submitAcceptedTask(t, attacker, worker, { prompt: "x".repeat(10_000) });
  await expect.poll(() => t.listLogged("mcp.forward_failed"), { timeout: 10_000 }).toHaveLength(1);
  return picky;
}

test.each(failedAnswers)(
  "G5: a task that its endpoint answers with %s does not take the agent offline",
  async (_, answer) => {
    await failForAttacker(answer);
    expect(await shown()).toEqual(ONLINE);
  },
);

test.each(failedAnswers)(
  "H16: a task that its endpoint answers with %s does not pause the endpoint for other submitters",
  async (_, answer) => {
    const picky = await failForAttacker(answer);
    const calls = picky.requests.length;
    await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => picky.requests.length).toBeGreaterThan(calls);
  },
);

test("G5: an endpoint that dies while it works takes its agent offline", async () => {
  const picky = await startPickyEndpoint((response) => {
    void picky.close();
    response.destroy();
  });
  await registerEndpoint(t, worker, picky.url);
  await submitAcceptedTask(t, boss, worker);
  await expect.poll(shown).toEqual(OFFLINE);
});
