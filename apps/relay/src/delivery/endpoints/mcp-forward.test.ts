import { verifyToken } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueToken } from "../../../test/agents/delegation-tokens.ts";
import {
  startHttpEndpoint,
  startMcpEndpoint,
  registerEndpoint,
  startSessionEndpoint,
  textResult,
  type Endpoint,
  type TaskArguments,
} from "../../../test/network/endpoint.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  getTaskAt,
  putListing,
  type Delegation,
} from "../../../test/market.ts";
import {
  OPERATOR_TOKEN,
  createReceipt,
  processCount,
  startTestRelay,
  type TestRelay,
} from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
const endpoints: Endpoint[] = [];
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(async () => {
  await t.close();
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

function opened<E extends Endpoint>(endpoint: E): E {
  endpoints.push(endpoint);
  return endpoint;
}

const receiptFor = ({ relay_task_id, prompt }: TaskArguments): ExecutionReceipt =>
  createReceipt(worker, { task_id: relay_task_id, prompt, submitted_at: t.clock.now() });

const proves = (args: TaskArguments) => textResult(JSON.stringify(receiptFor(args)));

const ended = async ({ path }: Delegation, status = "completed") =>
  expect.poll(async () => (await getTaskAt(t, path)).status).toBe(status);

const failures = (count = 1) =>
  expect.poll(() => t.listLogged("mcp.forward_failed")).toHaveLength(count);

describe("a task for an agent that has only an endpoint", () => {
  test("a task for an agent with only an endpoint is executed by its tool agent_task and settled by the receipt", async () => {
    const endpoint = opened(await startMcpEndpoint(proves));
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker, {
      prompt: "count the words",
      required_capabilities: ["summarise"],
      wall_clock_ms: 60_000,
    });
    await ended(task);
    expect(endpoint.calls).toEqual([
      {
        prompt: "count the words",
        relay_task_id: task.task_id,
        required_capabilities: ["summarise"],
      },
    ]);
    expect(endpoint.origins).toEqual([
      { submitted_by: boss.agentId, estimated_cost: 2, wall_clock_ms: 60_000 },
    ]);
    const { body } = await t.as(boss, "GET", task.path);
    expect(body["receipt"]).toMatchObject({ agent_id: worker.agentId, result: "done" });
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0, fees: 0.1 });
  });

  test("B1: an endpoint is not called for a free task from before its listing, which now asks a price", async () => {
    const late = await t.createAgent();
    const free = await submitAcceptedTask(t, boss, late);
    await putListing(t, late, 2);
    const answer = (args: TaskArguments) =>
      textResult(
        JSON.stringify(
          createReceipt(late, {
            task_id: args.relay_task_id,
            prompt: args.prompt,
            submitted_at: t.clock.now(),
          }),
        ),
      );
    const endpoint = opened(await startMcpEndpoint(answer));
    await registerEndpoint(t, late, endpoint.url);
    const paid = await submitAcceptedTask(t, boss, late);
    await ended(paid);
    expect((await getTaskAt(t, free.path)).status).toBe("pending");
    expect(endpoint.calls).toHaveLength(1);
  });

  test("a task carries its delegation token as JSON text to the endpoint", async () => {
    const endpoint = opened(await startMcpEndpoint(proves));
    await registerEndpoint(t, worker, endpoint.url);
    const delegation_token = issueToken(t, boss, worker);
    const task = await submitAcceptedTask(t, boss, worker, { delegation_token });
    await ended(task);
    expect(endpoint.calls).toEqual([
      {
        prompt: "work",
        relay_task_id: task.task_id,
        delegation_token: JSON.stringify(delegation_token),
      },
    ]);
  });

  test.each<[string, (receipt: string) => CallToolResult]>([
    ["followed by a text block with the identity tag", (r) => textResult(r, "[agent:0123 tester]")],
    ["with the identity tag as its last line", (r) => textResult(`${r}\n[agent:0123 tester]`)],
    [
      "behind a block that is not text",
      (r) => ({
        content: [{ type: "image", data: "AAAA", mimeType: "image/png" }, ...textResult(r).content],
      }),
    ],
  ])("a receipt %s is read", async (_, wrap) => {
    const answer = (args: TaskArguments) => wrap(JSON.stringify(receiptFor(args)));
    await registerEndpoint(t, worker, opened(await startMcpEndpoint(answer)).url);
    await ended(await submitAcceptedTask(t, boss, worker));
    expect(await t.getBalance(worker)).toBe(1.9);
  });

  test("a task fails without a payment when the endpoint reports failure", async () => {
    const answer = ({ relay_task_id: task_id, prompt }: TaskArguments) =>
      textResult(
        JSON.stringify(
          createReceipt(
            worker,
            { task_id, prompt, submitted_at: t.clock.now() },
            { status: "failed" },
          ),
        ),
      );
    await registerEndpoint(t, worker, opened(await startMcpEndpoint(answer)).url);
    await ended(await submitAcceptedTask(t, boss, worker), "failed");
    expect(await t.getBalance(boss)).toBe(10);
  });

  test("a task is executed by MCP servers of older revisions, and their sessions are ended", async () => {
    const endpoint = opened(await startSessionEndpoint(proves));
    await registerEndpoint(t, worker, endpoint.url);
    await ended(await submitAcceptedTask(t, boss, worker));
    await expect.poll(() => endpoint.sessions()).toBe(0);
    expect(endpoint.requests.at(-1)).toMatchObject({ method: "DELETE" });
  });
});

describe("HO12 the relay signs in at an endpoint", () => {
  test("the relay authenticates at an endpoint with a token for this agent alone", async () => {
    const endpoint = opened(await startMcpEndpoint(proves));
    await registerEndpoint(t, worker, endpoint.url);
    await ended(await submitAcceptedTask(t, boss, worker));
    const info = (await t.request("GET", "/.well-known/agent-relay.json")).body;
    const bearers = new Set(endpoint.requests.map(({ headers }) => headers.authorization));
    expect(bearers.size).toBe(1);
    const [token = ""] = [...bearers].map((bearer) => bearer?.replace("Bearer agent:", ""));
    const expected = { publicKey: info["public_key"] as string, now: t.clock.now() };
    expect(await verifyToken(token, { ...expected, audience: worker.did })).toMatchObject({
      ok: true,
      claims: { agentId: info["relay_id"], scopes: ["task:submit"] },
    });
    expect(await verifyToken(token, { ...expected, audience: t.did })).toMatchObject({ ok: false });
  });

  test("a token that the relay presents to one agent is invalid at another", async () => {
    const endpoint = opened(await startMcpEndpoint(() => textResult("no")));
    const other = await createSeller(t, 1);
    await registerEndpoint(t, worker, endpoint.url);
    await registerEndpoint(t, other, endpoint.url);
    await submitAcceptedTask(t, boss, worker);
    await submitAcceptedTask(t, boss, other);
    await failures(2);
    expect(new Set(endpoint.requests.map(({ headers }) => headers.authorization)).size).toBe(2);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["takes the task", () => {}],
    ["asks for other credentials", (r) => r.writeHead(401, { "www-authenticate": "Basic" }).end()],
    ["redirects", (r) => r.writeHead(307, { location: "/other" }).end()],
  ])("HO12 an endpoint that %s never sees the operator's token", async (_, answer) => {
    const bodies: string[] = [];
    const endpoint = opened(
      await startHttpEndpoint(async (request, response) => {
        for await (const chunk of request) bodies.push(String(chunk));
        answer(response);
        if (!response.writableEnded) response.writeHead(500).end();
      }),
    );
    await registerEndpoint(t, worker, endpoint.url);
    await submitAcceptedTask(t, boss, worker);
    await failures();
    expect(endpoint.requests.length).toBeGreaterThan(0);
    expect(JSON.stringify([endpoint.requests, bodies])).not.toContain(OPERATOR_TOKEN);
    expect(t.lines.join("\n")).not.toContain(OPERATOR_TOKEN);
  });
});

/** Expects that the task waits, that its money is held, and that the right receipt is still accepted. */
async function expectWaiting(task: Delegation): Promise<void> {
  await failures();
  await ended(task, "pending");
  expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([7.6, 0]);
  const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
  expect(body["records"]).toEqual([]);
  const receipt = createReceipt(worker, task);
  expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({ status: 200 });
  expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
}

describe("HO16 a failed forward is logged, changes nothing, and the task waits", () => {
  const changed = (args: TaskArguments) => ({ ...receiptFor(args), result: "better" });
  const others = (args: TaskArguments) => receiptFor({ ...args, relay_task_id: "another" });
  const deep = (args: TaskArguments) =>
    `{"deep":${"[".repeat(5_000)}${"]".repeat(5_000)},${JSON.stringify(receiptFor(args)).slice(1)}`;

  test.each<[string, string, (args: TaskArguments) => CallToolResult | Promise<CallToolResult>]>([
    ["the tool fails", "out of memory", () => ({ ...textResult("out of memory"), isError: true })],
    ["the tool throws", "broken", () => Promise.reject(new Error("broken"))],
    ["it returns nothing", "", () => ({ content: [] })],
    [
      "it returns no text",
      "",
      () => ({ content: [{ type: "image", data: "AA", mimeType: "a/b" }] }),
    ],
    ["it returns prose", "holds no receipt", () => textResult("Here you are!")],
    ["it returns a list", "holds no receipt", () => textResult("[1]")],
    ["it returns null", "holds no receipt", () => textResult("null")],
    ["it returns JSON that is too deep", "holds no receipt", (a) => textResult(deep(a))],
    ["the receipt is malformed", "receipt.malformed", () => textResult('{"task_id":"t"}')],
    [
      "the receipt belongs to another task",
      "receipt.task_mismatch",
      (a) => textResult(JSON.stringify(others(a))),
    ],
    [
      "the receipt was changed",
      "receipt.signature_invalid",
      (a) => textResult(JSON.stringify(changed(a))),
    ],
    [
      "the submitter signed the receipt",
      "receipt.wrong_agent",
      ({ relay_task_id: task_id, prompt }) =>
        textResult(
          JSON.stringify(createReceipt(boss, { task_id, prompt, submitted_at: t.clock.now() })),
        ),
    ],
  ])("a forward to an endpoint fails because %s: %s", async (_, reason, tool) => {
    await registerEndpoint(t, worker, opened(await startMcpEndpoint(tool)).url);
    const task = await submitAcceptedTask(t, boss, worker);
    await failures();
    const [failure] = t.listLogged("mcp.forward_failed");
    expect(failure).toMatchObject({ correlationId: task.task_id, agent_id: worker.agentId });
    expect(failure?.["reason"]).toContain(reason);
    await expectWaiting(task);
  });

  const json = { "content-type": "application/json" };
  test.each<[string, (response: ServerResponse) => unknown]>([
    ["401", (r) => r.writeHead(401).end("x".repeat(5_000))],
    ["403", (r) => r.writeHead(403).end()],
    ["404", (r) => r.writeHead(404).end()],
    ["500", (r) => r.writeHead(500).end()],
    ["a page", (r) => r.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["no JSON", (r) => r.writeHead(200, json).end("{")],
    ["JSON that is not JSON-RPC", (r) => r.writeHead(200, json).end("{}")],
    ["an empty body", (r) => r.writeHead(200, json).end()],
    ["3 MB", (r) => r.writeHead(200, json).end(`{"a":"${"x".repeat(3_000_000)}"}`)],
    [
      "3 MB of events",
      (r) =>
        r
          .writeHead(200, { "content-type": "text/event-stream" })
          .end(`data: ${"x".repeat(3_000_000)}\n\n`),
    ],
    [
      "half an answer",
      (r) => r.writeHead(200, { ...json, "content-length": "99" }).end("{", () => r.destroy()),
    ],
    ["a closed connection", (r) => r.destroy()],
  ])("a forward fails because its endpoint answers %s", async (_, answer) => {
    const endpoint = opened(await startHttpEndpoint((_request, response) => answer(response)));
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker);
    await failures();
    const [failure] = t.listLogged("mcp.forward_failed");
    expect(String(failure?.["reason"]).length).toBeLessThanOrEqual(200);
    await expectWaiting(task);
  });

  test("a forward to an endpoint that refuses connections fails", async () => {
    const endpoint = await startMcpEndpoint(proves);
    await endpoint.close();
    await registerEndpoint(t, worker, endpoint.url);
    await expectWaiting(await submitAcceptedTask(t, boss, worker));
  });

  test("HO11 a forward to an endpoint that redirects fails, and the other address is not called", async () => {
    const other = opened(await startMcpEndpoint(proves));
    const endpoint = opened(
      await startHttpEndpoint((_, response) =>
        response.writeHead(308, { location: other.url }).end(),
      ),
    );
    await registerEndpoint(t, worker, endpoint.url);
    await expectWaiting(await submitAcceptedTask(t, boss, worker));
    expect(other.requests).toEqual([]);
  });

  test.each(["http://169.254.169.254/mcp", "http://[fe80::1]/mcp", "http://100.100.100.200/"])(
    "HO11 an endpoint with the address %s is never called",
    async (url) => {
      await registerEndpoint(t, worker, url);
      await expectWaiting(await submitAcceptedTask(t, boss, worker));
    },
  );

  test("HO11 a forward to a private address fails where such addresses are blocked", async () => {
    await t.close();
    t = await startTestRelay({ AGENT_PRIVATE_ENDPOINTS: "block" });
    [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const endpoint = opened(await startMcpEndpoint(proves));
    await registerEndpoint(t, worker, endpoint.url);
    await expectWaiting(await submitAcceptedTask(t, boss, worker));
    expect(endpoint.requests).toEqual([]);
  });
});

describe("the timeout of a forward", () => {
  const silent = () => new Promise<CallToolResult>(() => {});
  test.each<[string, Record<string, unknown>, number]>([
    ["330 s", {}, 330_000],
    ["the submitter's wall clock", { wall_clock_ms: 5_000 }, 5_000],
  ])("the timeout of a forward is %s", async (_, body, ms) => {
    const endpoint = opened(await startMcpEndpoint(silent));
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker, body);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await t.clock.advance(ms - 1);
    await ended(task, "claimed");
    await t.clock.advance(1);
    await expectWaiting(task);
  });

  test("the timeout of a forward is the remaining lifetime of the task, if that is less", async () => {
    const endpoint = opened(await startMcpEndpoint(silent));
    const task = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(890_000);
    await registerEndpoint(t, worker, endpoint.url);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await t.clock.advance(10_000);
    await t.relay.tick();
    await failures();
    expect(await t.as(boss, "GET", task.path)).toMatchObject({ status: 404 });
    expect(await t.getBalance(boss)).toBe(10);
  });

  test("the timeout of a forward is not extended by a body that arrives byte by byte", async () => {
    const endpoint = opened(
      await startHttpEndpoint((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const drip = setInterval(() => response.write(":\n"), 5);
        response.on("close", () => clearInterval(drip));
      }),
    );
    await registerEndpoint(t, worker, endpoint.url);
    const task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.requests.length).toBeGreaterThan(0);
    for (let s = 0; s < 330; s += 110) {
      await ended(task, "claimed");
      await t.clock.advance(110_000);
    }
    await expectWaiting(task);
  });
});

describe("H16: the wall clock of one submitter and the tasks of another", () => {
  const slowFor = (ms: number) => async (args: TaskArguments) => {
    if (args.prompt === "slow") await new Promise((resolve) => setTimeout(resolve, ms));
    return proves(args);
  };

  test("H16: four tasks of 1 ms delay no other task at the same endpoint", async () => {
    const endpoint = opened(await startMcpEndpoint(slowFor(50)));
    await registerEndpoint(t, worker, endpoint.url);
    const rude = await createBuyer(t, 100);
    for (let i = 0; i < 4; i += 1) {
      await submitAcceptedTask(t, rude, worker, { prompt: "slow", wall_clock_ms: 1 });
      await expect
        .poll(async () => {
          await t.clock.advance(2);
          return t.listLogged("mcp.forward_failed").length;
        })
        .toBe(i + 1);
    }
    const honest = await submitAcceptedTask(t, boss, worker);
    // The manual clock does not advance, so a pause would never end.
    await ended(honest);
  });

  test.each<[string, CallToolResult]>([
    ["reports an error", { ...textResult("out of memory"), isError: true }],
    ["returns no receipt", textResult("Here you are!")],
  ])("H16: an endpoint whose tool %s is not paused", async (_, failed) => {
    const endpoint = opened(
      await startMcpEndpoint((args) => (args.prompt === "hard" ? failed : proves(args))),
    );
    await registerEndpoint(t, worker, endpoint.url);
    const rude = await createBuyer(t, 10);
    await submitAcceptedTask(t, rude, worker, { prompt: "hard" });
    await failures();
    // The manual clock does not advance, so a pause would never end.
    await ended(await submitAcceptedTask(t, boss, worker));
    expect(endpoint.calls).toHaveLength(2);
  });

  /** Returns whether the market shows the worker as online. */
  const isOnline = async () =>
    (await t.asOperator("GET", `/api/v1/agents/${worker.agentId}`)).body["online"];

  test.each<[string, (response: ServerResponse) => void]>([
    ["closes its connections", (response) => response.destroy()],
    ["answers something else than MCP", (response) => response.end("<html>")],
  ])("H16: an endpoint that %s is paused, and its agent is offline", async (_, answer) => {
    const broken = opened(await startHttpEndpoint((__, response) => answer(response)));
    await registerEndpoint(t, worker, broken.url);
    expect(await isOnline()).toBe(true);
    await submitAcceptedTask(t, boss, worker);
    await failures();
    await expect.poll(isOnline).toBe(false);
    const asked = broken.requests.length;
    const other = await createBuyer(t, 10);
    const waiting = await submitAcceptedTask(t, other, worker);
    // The manual clock does not advance, so the pause lasts while another agent does a later task.
    const rival = await createSeller(t, 2);
    const proving = (args: TaskArguments) =>
      textResult(
        JSON.stringify(
          createReceipt(rival, {
            task_id: args.relay_task_id,
            prompt: args.prompt,
            submitted_at: t.clock.now(),
          }),
        ),
      );
    await registerEndpoint(t, rival, opened(await startMcpEndpoint(proving)).url);
    await ended(await submitAcceptedTask(t, other, rival));
    expect(broken.requests).toHaveLength(asked);
    await ended(waiting, "pending");
    await t.clock.advance(1_000);
    await expect.poll(() => broken.requests.length).toBeGreaterThan(asked);
  });

  test("H16: an endpoint that does not answer for 9,999 ms is neither paused nor offline", async () => {
    const endpoint = opened(await startMcpEndpoint(slowFor(200)));
    await registerEndpoint(t, worker, endpoint.url);
    const slow = { prompt: "slow", wall_clock_ms: 9_999 };
    const timedOut = await submitAcceptedTask(t, boss, worker, slow);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await t.clock.advance(9_999);
    await failures();
    await ended(timedOut, "pending");
    const other = await createBuyer(t, 10);
    expect(await isOnline()).toBe(true);
    // The manual clock does not advance, so a pause would never end.
    await ended(await submitAcceptedTask(t, other, worker));
  });

  // Each process tries an endpoint for itself.
  test.runIf(processCount === 1)(
    "H16: an endpoint that does not answer for 10 s is paused",
    async () => {
      const endpoint = opened(await startMcpEndpoint(slowFor(200)));
      await registerEndpoint(t, worker, endpoint.url);
      await submitAcceptedTask(t, boss, worker, { prompt: "slow", wall_clock_ms: 10_000 });
      await expect.poll(() => endpoint.calls).toHaveLength(1);
      await t.clock.advance(10_000);
      await failures();
      const other = await createBuyer(t, 10);
      const waiting = await submitAcceptedTask(t, other, worker);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await getTaskAt(t, waiting.path)).status).toBe("pending");
      await t.clock.advance(1_000);
      await ended(waiting);
    },
  );
});
