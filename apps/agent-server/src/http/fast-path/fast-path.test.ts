import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createSeededRandom } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../../caller.ts";
import { startTestServer, TEST_TOKEN, type TestServer } from "../../testing/agents/test-agent.ts";
import { createHangingTool, shoutTool, createTextTool } from "../../testing/tools/test-tools.ts";

const alice: Caller = { kind: "agent", agentId: "alice", trust: "trusted" };
const aborted: (() => void)[] = [];
const whoami = createTextTool("whoami", (_, { caller }) => ({ ok: true, data: caller.kind }));
const slip = createTextTool("slip", () => ({ ok: true, data: 7 as unknown as string }));
const pause = createTextTool("pause", async (text) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return { ok: true, data: text };
});

let server: TestServer;
let session: string;

beforeAll(async () => {
  const tools = [shoutTool, whoami, slip, pause, createHangingTool(() => aborted.shift()?.())];
  server = await startTestServer({ tools }, async () => ({ ok: true, caller: alice }));
  session = await open(TEST_TOKEN);
});
afterAll(() => server.close());

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

const headers = {
  authorization: `Bearer ${TEST_TOKEN}`,
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2025-11-25",
};

function post(body: unknown, other: Record<string, string> = {}): Promise<Response> {
  return fetch(server.url, {
    method: "POST",
    headers: { ...headers, "mcp-session-id": session, ...other },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function open(bearer: string): Promise<string> {
  const response = await fetch(server.url, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${bearer}` },
    body: JSON.stringify(initialize),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

const call = (id: number, name: string, text = "") => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: { text } },
});

/** Resolves when the signal of a hanging call fires. */
const nextAbort = () => new Promise<void>((resolve) => aborted.push(resolve));

describe("a plain call of a session", () => {
  test("a plain call is answered as JSON with the identity tag", async () => {
    const response = await post(call(1, "shout", "hi"), { "x-request-id": "mine" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("mcp-session-id")).toBe(session);
    expect(response.headers.get("x-request-id")).toBe("mine");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        content: [
          { type: "text", text: "HI" },
          { type: "text", text: expect.stringMatching(/^\[agent:/) as string },
        ],
      },
    });
  });

  test.each(["nothing", "slip"])(
    "a plain call that fails (%s) is answered with an error and the tag",
    async (name) => {
      const response = await post(call(1, name));
      expect(await response.json()).toMatchObject({
        result: { isError: true, content: [{}, { text: /^\[agent:/ }] },
      });
    },
  );

  test("a plain call belongs to its own caller, even on a connection with another caller's session", async () => {
    const asAlice = { authorization: "Bearer agent:x", "mcp-session-id": await open("agent:x") };
    const kinds = await Promise.all(
      [{}, asAlice, {}, asAlice].map(async (who, id) => {
        const answer = await (await post(call(id, "whoami"), who)).text();
        return /"text":"(\w+)"/.exec(answer)?.[1];
      }),
    );
    expect(kinds).toEqual(["owner", "agent", "owner", "agent"]);
  });
});

describe("a call that ends early", () => {
  test("a plain call that its client cancels stops its tool and gets 202", async () => {
    const aborted = nextAbort();
    const answer = post(call(20, "hanging"));
    await expect.poll(async () => (await post(call(20, "shout"))).status).toBe(400);
    const params = { requestId: 20 };
    await post({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    await aborted;
    expect((await answer).status).toBe(202);
    expect((await post(call(20, "shout"))).status).toBe(200);
  });

  test("a plain call stops when its session ends", async () => {
    const aborted = nextAbort();
    const own = { "mcp-session-id": await open(TEST_TOKEN) };
    const answer = post(call(1, "hanging"), own);
    await expect.poll(async () => (await post(call(1, "shout"), own)).status).toBe(400);
    await fetch(server.url, { method: "DELETE", headers: { ...headers, ...own } });
    await aborted;
    expect((await answer).status).toBe(202);
    expect((await post(call(2, "shout"), own)).status).toBe(404);
  });
});

test("calls that are cancelled and repeated at once are answered under their own ids", async () => {
  const random = createSeededRandom(7);
  const below = (count: number) => (random.randomBytes(1)[0] ?? 0) % count;
  const answers = await Promise.all(
    Array.from({ length: 400 }, async () => {
      const id = 30 + below(5);
      const params = { requestId: id };
      const message =
        below(3) === 0
          ? { jsonrpc: "2.0", method: "notifications/cancelled", params }
          : call(id, "pause");
      const response = await post(message);
      const { status } = response;
      const text = await response.text();
      return { id, status, answered: text === "" ? id : (JSON.parse(text) as { id: number }).id };
    }),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 202, 400]));
  expect(answers.filter(({ id, answered }) => id !== answered)).toEqual([]);
  for (let id = 30; id < 35; id += 1) expect((await post(call(id, "shout"))).status).toBe(200);
});

describe("an invalid plain call is answered by the app", () => {
  test.each<[string, number, Record<string, string>]>([
    ["without a token", 401, { authorization: "" }],
    ["with a wrong token", 401, { authorization: "Bearer x" }],
    ["from a page of another origin", 403, { origin: "http://evil.example" }],
    ["of another media type", 415, { "content-type": "text/plain" }],
    ["of an unknown revision", 400, { "mcp-protocol-version": "1999-01-01" }],
    ["of the newer era without its envelope", 400, { "mcp-protocol-version": "2026-07-28" }],
    ["that does not accept a stream", 406, { accept: "application/json" }],
    ["of an unknown session", 404, { "mcp-session-id": "x" }],
    ["of another caller's session", 404, { authorization: "Bearer agent:x" }],
  ])("a plain call %s gets %i", async (_, status, other) => {
    expect((await post(call(1, "shout"))).status).toBe(200);
    expect((await post(call(1, "shout"), other)).status).toBe(status);
  });

  test.each<[string, number, Record<string, string | string[]>]>([
    ["to this host", 200, { host: "127.0.0.1" }],
    ["to another host", 403, { host: "evil.example" }],
    ["to both hosts", 400, { host: ["127.0.0.1", "evil.example"] }],
    [
      "with two tokens",
      401,
      { host: "127.0.0.1", authorization: [headers.authorization, "Bearer x"] },
    ],
  ])("a plain call sent %s gets %i", async (_, status, other) => {
    const body = JSON.stringify(call(1, "shout"));
    const length = { "content-length": String(body.length) };
    const all = { ...headers, "mcp-session-id": session, ...length, ...other };
    // Raw header pairs are used because fetch sets the Host itself and an object holds each name
    // once.
    const pairs = Object.entries(all).flatMap(([name, values]) =>
      [values].flat().flatMap((value) => [name, value]),
    );
    const sent = request(server.url, { method: "POST", headers: pairs, setHost: false });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(status);
  });

  test.each<[string, number, string]>([
    ["that is not JSON", 400, "{"],
    ["that is empty", 400, ""],
    ["above 1 MiB", 413, JSON.stringify(call(1, "shout", "x".repeat(1_048_576)))],
    ["with a fractional id", 400, JSON.stringify(call(0.5, "shout"))],
  ])("a plain call with a body %s gets %i", async (_, status, body) => {
    expect((await post(body)).status).toBe(status);
  });

  test("a call that requests progress is answered by the app with a stream", async () => {
    const params = { ...call(1, "shout", "hi").params, _meta: { progressToken: 1 } };
    const response = await post({ ...call(1, "shout"), params });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toContain("no-store");
    expect(await response.text()).toContain("HI");
  });
});
