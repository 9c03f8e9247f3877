import { describe, expect, test } from "vitest";
import { createTestAgent, createTestApp, TEST_TOKEN } from "../testing/agents/test-agent.ts";
import type { HttpApp } from "./app.ts";

const agent = createTestAgent();
const app = createTestApp(agent);

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

function send(
  path: string,
  options: {
    method?: string;
    headers?: Record<string, string>;
    body?: unknown;
    to?: HttpApp;
  } = {},
): Response | Promise<Response> {
  const { body, to = app } = options;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return to.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        host: "127.0.0.1:3100",
        accept: "application/json, text/event-stream",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { body: text }),
    }),
  );
}

const bearer = { authorization: `Bearer ${TEST_TOKEN}` };

describe("GET /health", () => {
  test("GET /health needs no token and names the agent", async () => {
    const response = await send("/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", agent_id: agent.identity.agentId });
  });

  test("GET /health answers for any Host, because probes use any address", async () => {
    expect((await send("/health", { headers: { host: "10.0.0.7:3100" } })).status).toBe(200);
  });

  test("/health allows GET and HEAD only", async () => {
    expect((await send("/health", { method: "HEAD" })).status).toBe(200);
    const response = await send("/health", { method: "DELETE" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });
});

describe("every other path needs the token", () => {
  test.each<[string, Record<string, string>, string]>([
    ["no header", {}, "auth.missing"],
    ["a wrong token", { authorization: "Bearer wrong" }, "auth.unknown_token"],
    ["a longer token", { authorization: `Bearer ${TEST_TOKEN}x` }, "auth.unknown_token"],
    ["no bearer scheme", { authorization: TEST_TOKEN }, "auth.unknown_token"],
    ["an empty bearer", { authorization: "Bearer " }, "auth.unknown_token"],
    [
      "the token twice",
      { authorization: `Bearer ${TEST_TOKEN} ${TEST_TOKEN}` },
      "auth.unknown_token",
    ],
    [
      "a signed token without a relay",
      { authorization: "Bearer agent:x.y.z" },
      "auth.unknown_caller",
    ],
  ])("a request with %s gets 401", async (_, headers, code) => {
    for (const path of ["/mcp", "/", "/.well-known/agent-card.json", "/health/", "//health"]) {
      const response = await send(path, { method: "POST", headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toMatchObject({ code, status: 401 });
    }
  });

  test("an authenticated request for an unknown path gets 404", async () => {
    const response = await send("/nothing", { headers: bearer });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: "No such path",
      message: "No such path",
      code: "route.not_found",
      status: 404,
      request_id: response.headers.get("x-request-id"),
    });
  });

  test("the bearer scheme is case-insensitive", async () => {
    const headers = { authorization: `bearer ${TEST_TOKEN}` };
    expect((await send("/mcp", { headers, body: initialize })).status).toBe(200);
  });

  test("H15: no answer is stored by caches or read as another type, refusals and calls included", async () => {
    const initialized = await send("/mcp", { headers: bearer, body: initialize });
    const session = { "mcp-session-id": initialized.headers.get("mcp-session-id") ?? "" };
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const answers = [
      initialized,
      await send("/mcp", { headers: { ...bearer, ...session }, body: ping }),
      await send("/mcp", { headers: bearer, body: "no JSON" }),
      await send("/approvals", { headers: bearer }),
      await send("/approvals"),
      await send("/nothing", { headers: bearer }),
      await send("/approvals", { headers: { ...bearer, host: "evil.example" } }),
    ];
    const shown = answers.map(({ status, headers }) => [
      status,
      headers.get("cache-control")?.split(",")[0],
      headers.get("x-content-type-options"),
    ]);
    const statuses = [200, 200, 400, 200, 401, 404, 403];
    expect(shown).toEqual(statuses.map((status) => [status, "no-store", "nosniff"]));
    const health = await send("/health");
    expect(health.headers.get("x-content-type-options")).toBe("nosniff");
    expect(health.headers.has("cache-control")).toBe(false);
  });

  test("an open server answers requests without a token and refuses a wrong one", async () => {
    const open = createTestApp(agent, { allowAnonymous: true });
    expect((await send("/mcp", { body: initialize, to: open })).status).toBe(200);
    const headers = { authorization: "Bearer wrong" };
    expect((await send("/mcp", { body: initialize, headers, to: open })).status).toBe(401);
  });
});

describe("a page of another name cannot use this server (DNS rebinding)", () => {
  test.each([
    [{ host: "evil.example" }, "request.host_not_allowed"],
    [{ host: "127.0.0.1.evil.example:3100" }, "request.host_not_allowed"],
    [{ origin: "http://evil.example" }, "request.origin_not_allowed"],
    [{ origin: "null" }, "request.origin_not_allowed"],
  ])("a request with the headers %j gets 403, with or without the token", async (headers, code) => {
    for (const auth of [{}, bearer]) {
      const response = await send("/mcp", { body: initialize, headers: { ...headers, ...auth } });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code });
    }
  });

  test("a local origin is accepted", async () => {
    const headers = { ...bearer, origin: "http://localhost:5173", host: "localhost" };
    expect((await send("/mcp", { body: initialize, headers })).status).toBe(200);
  });
});

describe("a body of /mcp", () => {
  test("a malformed body of /mcp is a parse error", async () => {
    const response = await send("/mcp", { body: "{", headers: bearer });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32700 }, id: null });
  });

  test("a body above 1 MiB is refused, with or without a Content-Length", async () => {
    const body = JSON.stringify({ ...initialize, padding: "x".repeat(1_048_576) });
    const response = await send("/mcp", { body, headers: bearer });
    expect(response.status).toBe(413);
    const stream = new Blob([body]).stream();
    const streamed = await app.fetch(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        body: stream,
        duplex: "half",
        headers: { ...bearer, host: "127.0.0.1", "content-type": "application/json" },
      }),
    );
    expect(streamed.status).toBe(413);
  });

  test("a body of another media type is refused", async () => {
    const headers = { ...bearer, "content-type": "text/plain" };
    expect((await send("/mcp", { body: initialize, headers })).status).toBe(415);
  });

  test.each(["[]", "7", "null", '"text"', "{}", '{"jsonrpc":"2.0"}'])(
    "the body %s is refused without opening a session",
    async (body) => {
      const response = await send("/mcp", { body, headers: bearer });
      expect(response.status).toBe(400);
      expect(response.headers.get("mcp-session-id")).toBeNull();
    },
  );

  test("a refused method gets the allowed ones", async () => {
    const response = await send("/mcp", { method: "PUT", headers: bearer });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST, DELETE");
  });
});

test("a well-formed request id is echoed, another one is replaced", async () => {
  const id = async (given: string) =>
    (await send("/x", { headers: { "x-request-id": given } })).headers.get("x-request-id");
  expect(await id("abc-1.2_3")).toBe("abc-1.2_3");
  expect(await id("a b")).toMatch(/^[0-9a-f]{24}$/);
});

test("only the owner can list and decide approvals", async () => {
  const caller = { kind: "agent", agentId: "a", trust: "trusted" } as const;
  const guarded = createTestApp(agent, { checkSigned: async () => ({ ok: true, caller }) });
  const headers = { authorization: "Bearer agent:x" };
  for (const [path, method] of [
    ["/approvals", "GET"],
    ["/approvals/x", "POST"],
  ] as const) {
    const body = method === "POST" ? { decision: "approve" } : undefined;
    const response = await send(path, { method, headers, body, to: guarded });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: "auth.not_owner" });
  }
});
