import { limits, operations } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { startLocalServer, type Handler } from "../testing/local-server.ts";
import { call, type CallOptions } from "./call.ts";

const healthy = { status: 200, body: { status: "ok" } };

/** Calls `/health` of a server that answers by `handler`. */
async function health(handler: Handler, options: Partial<CallOptions> = {}) {
  await using server = await startLocalServer(handler);
  return await call(operations.health, {}, { baseUrl: server.baseUrl, ...options });
}

describe("the request of a call", () => {
  test("call sends path parameters percent-encoded, each as one segment", async () => {
    const agentId = "a/b?c#d%2e é";
    await using server = await startLocalServer(() => healthy);
    await call(operations.getAgent, { params: { agentId } }, server);
    expect(server.received).toMatchObject([
      { method: "GET", url: "/api/v1/agents/a%2Fb%3Fc%23d%252e%20%C3%A9" },
    ]);
  });

  test("call sends the given query parameters, numbers as text", async () => {
    await using server = await startLocalServer(() => healthy);
    await call(operations.discover, { query: { limit: 5, q: "a&b", cursor: undefined } }, server);
    expect(server.received[0]?.url).toBe("/api/v1/agents/discover?limit=5&q=a%26b");
  });

  test("call sends a JSON body with its content type and the bearer token", async () => {
    await using server = await startLocalServer(() => healthy);
    const body = { prompt: "sum 1 and 2" };
    const request = { params: { agentId: "a" }, body };
    await call(operations.submitTask, request, { ...server, token: "secret" });
    const [received] = server.received;
    expect(received).toMatchObject({
      method: "POST",
      url: "/agent/a/task",
      body: JSON.stringify(body),
      headers: { authorization: "Bearer secret", "content-type": "application/json" },
    });
  });

  test("call sends no authorization without a token and no content type without a body", async () => {
    await using server = await startLocalServer(() => healthy);
    await call(operations.cancelTask, { params: { agentId: "a", taskId: "t" } }, server);
    const [received] = server.received;
    expect(received).toMatchObject({ method: "POST", url: "/agent/a/task/t/cancel", body: "" });
    expect(received?.headers).not.toHaveProperty("authorization");
    expect(received?.headers).not.toHaveProperty("content-type");
  });

  test.each(["/relay", "/relay/", "/relay//"])(
    "call reaches a relay under the base path %s",
    async (prefix) => {
      await using server = await startLocalServer(() => healthy);
      await call(operations.health, {}, { baseUrl: server.baseUrl + prefix });
      expect(server.received[0]?.url).toBe("/relay/health");
    },
  );

  test.each(["", ".", "..", "\ud800"])(
    "call sends nothing when a path parameter is %j, which would change the path",
    async (agentId) => {
      await using server = await startLocalServer(() => healthy);
      const answer = await call(operations.getAgent, { params: { agentId } }, server);
      expect(answer).toMatchObject({ ok: false, code: "request.invalid", status: 0 });
      expect(server.received).toEqual([]);
    },
  );
});

describe("the answer of a call", () => {
  test("call returns a declared answer without undeclared members", async () => {
    const body = { agent_id: "a", device_id: "d", registered: true, extra: 1 };
    await using server = await startLocalServer(() => ({ status: 201, body }));
    const request = { body: { agent_id: "a", public_key: "k" } };
    expect(await call(operations.bootstrap, request, server)).toEqual({
      ok: true,
      status: 201,
      body: { agent_id: "a", device_id: "d", registered: true },
    });
  });

  test("H17: a list is read when one row has an enumeration value of a later version", async () => {
    const goal = (status: string) => {
      return { goal_id: status, status, signed: false, plans: 0, task_status: null };
    };
    const body = { goals: [goal("active"), goal("delegated")], next_cursor: null };
    await using server = await startLocalServer(() => ({ status: 200, body }));
    const answer = await call(operations.listGoals, { params: { agentId: "a" } }, server);
    expect(answer).toEqual({ ok: true, status: 200, body });
  });

  test("H17: a row whose enumeration value is no string is malformed", async () => {
    const goal = { goal_id: "g", status: 7, signed: false, plans: 0, task_status: null };
    const body = { goals: [goal], next_cursor: null };
    await using server = await startLocalServer(() => ({ status: 200, body }));
    const answer = await call(operations.listGoals, { params: { agentId: "a" } }, server);
    expect(answer).toMatchObject({ ok: false, code: "response.malformed" });
  });

  test("call returns a refusal with code, status, message, issues, request id and Retry-After", async () => {
    const issues = [{ path: "prompt", message: "must be non-empty" }];
    const body = {
      error: "x",
      message: "x",
      code: "rate.exceeded",
      status: 429,
      request_id: "r1",
      issues,
    };
    expect(await health(() => ({ status: 429, headers: { "retry-after": "7" }, body }))).toEqual({
      ok: false,
      code: "rate.exceeded",
      status: 429,
      message: "x",
      issues,
      requestId: "r1",
      retryAfterSeconds: 7,
    });
  });

  test.each([
    ["Mon, 05 Jan 2026 12:00:30 GMT", 30],
    ["999999999", 86_400],
  ])("call converts Retry-After %s to %i seconds by the caller's clock", async (wait, seconds) => {
    const busy = { status: 503, headers: { "retry-after": wait }, body: {} };
    const now = () => Date.UTC(2026, 0, 5, 12);
    expect(await health(() => busy, { now })).toMatchObject({ retryAfterSeconds: seconds });
  });

  test("call returns an unknown refusal code unchanged", async () => {
    const body = { message: "new", code: "moon.too_low" };
    expect(await health(() => ({ status: 418, body }))).toMatchObject({ code: "moon.too_low" });
  });

  test.each<[string, Handler, number]>([
    ["a proxy's page", () => ({ status: 502, body: "<h1>Bad gateway</h1>" }), 502],
    ["an error with other members", () => ({ status: 400, body: { error: "no" } }), 400],
    ["a success without JSON", () => ({ status: 200, body: "ok" }), 200],
    ["a success with other members", () => ({ status: 200, body: { status: "fine" } }), 200],
    ["a success without a body", () => ({ status: 200 }), 200],
    ["a success with an undeclared status", () => ({ status: 202, body: { status: "ok" } }), 202],
  ])("call refuses %s with response.malformed", async (_, handler, status) => {
    expect(await health(handler)).toMatchObject({ ok: false, code: "response.malformed", status });
  });

  test("call reads at most 2 MiB of an answer without a content length", async () => {
    const text = (length: number) => JSON.stringify({ status: "ok", x: "x".repeat(length - 22) });
    const sized = (length: number) =>
      health((_, response) => {
        response.writeHead(200);
        response.write(text(length).slice(0, 1_000));
        response.end(text(length).slice(1_000));
        return undefined;
      });
    expect(text(limits.outboundBytes).length).toBe(limits.outboundBytes);
    expect(await sized(limits.outboundBytes)).toMatchObject({ ok: true });
    expect(await sized(limits.outboundBytes + 1)).toMatchObject({ code: "response.too_large" });
  });

  test("call does not follow a redirect, so the token reaches no other address", async () => {
    await using elsewhere = await startLocalServer(() => healthy);
    const headers = { location: `${elsewhere.baseUrl}/health` };
    const answer = await health(() => ({ status: 307, headers, body: {} }), { token: "secret" });
    expect(answer).toMatchObject({ ok: false, code: "response.malformed", status: 307 });
    expect(elsewhere.received).toEqual([]);
  });
});

describe("a failed transport", () => {
  const hang: Handler = () => undefined;

  test("call returns network.timeout when no answer arrives", async () => {
    expect(await health(hang, { timeoutMs: 50 })).toMatchObject({
      ok: false,
      code: "network.timeout",
      status: 0,
    });
  });

  test("call returns network.timeout when the body stops arriving", async () => {
    const half: Handler = (_, response) => {
      response.writeHead(200).write("{");
      return undefined;
    };
    expect(await health(half, { timeoutMs: 50 })).toMatchObject({ code: "network.timeout" });
  });

  test("call returns network.aborted when the caller aborts", async () => {
    const signal = AbortSignal.abort();
    expect(await health(hang, { signal })).toMatchObject({ code: "network.aborted", status: 0 });
  });

  test.each<[string, Handler]>([
    ["before the answer", (_, response) => void response.destroy()],
    [
      "within the answer",
      (_, response) => void response.writeHead(200).write("{", () => response.destroy()),
    ],
  ])("call returns network.unreachable when the connection is cut %s", async (_, cut) => {
    expect(await health(cut)).toMatchObject({ ok: false, code: "network.unreachable", status: 0 });
  });

  test("call returns network.unreachable when no server listens", async () => {
    const server = await startLocalServer(hang);
    await server[Symbol.asyncDispose]();
    const answer = await call(operations.health, {}, { baseUrl: server.baseUrl });
    expect(answer).toMatchObject({ ok: false, code: "network.unreachable", status: 0 });
  });
});
