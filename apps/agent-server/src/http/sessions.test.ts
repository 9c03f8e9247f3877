import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import { createManualClock } from "@agent/testkit";
import { silentLog } from "../log.ts";
import { createSystemRuntime, type Runtime } from "../runtime.ts";
import { createTestAgent } from "../testing/agents/test-agent.ts";
import { createHangingTool, shoutTool } from "../testing/tools/test-tools.ts";
import { getCaller, toAuthInfo } from "./authentication/caller-info.ts";
import { createSessions, type Sessions } from "./sessions.ts";

const alice: Caller = { kind: "agent", agentId: "alice", trust: "trusted" };
const bob: Caller = { kind: "agent", agentId: "bob", trust: "trusted" };
const carol: Caller = { kind: "agent", agentId: "carol", trust: "trusted" };

function newSessions(
  options: { runtime?: Runtime; perGroup?: number; perCaller?: number; idleMs?: number } = {},
): Sessions {
  const agent = createTestAgent({ tools: [shoutTool, createHangingTool()] });
  const runtime = options.runtime ?? createSystemRuntime(silentLog);
  return createSessions({ newServer: () => agent.newServer(getCaller), ...options, runtime });
}

function post(sessions: Sessions, caller: Caller, body: unknown, session?: string) {
  const request = new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
    },
  });
  return sessions.handle(request, { caller, authInfo: toAuthInfo(caller), parsedBody: body });
}

const list = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/list", params: {} });
const call = (id: number, name: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: { text: "" } },
});

async function open(sessions: Sessions, caller: Caller): Promise<string> {
  const response = await post(sessions, caller, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  });
  await response.text();
  const id = response.headers.get("mcp-session-id");
  if (id === null) throw new Error(`no session: ${response.status}`);
  return id;
}

describe("a session", () => {
  test("a session has an unguessable id and serves its own caller", async () => {
    const sessions = newSessions();
    const id = await open(sessions, alice);
    expect(id).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const response = await post(sessions, alice, list(1), id);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("agent_task");
  });

  test("a session of another caller gets 404 like an unknown one", async () => {
    const sessions = newSessions();
    const id = await open(sessions, alice);
    const foreign = await post(sessions, bob, list(1), id);
    const unknown = await post(sessions, bob, list(1), "A".repeat(32));
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(await foreign.text()).toBe(await unknown.text());
    expect((await post(sessions, alice, list(2), id)).status).toBe(200);
  });

  test("a request without a session id gets 400", async () => {
    expect((await post(newSessions(), alice, list(1))).status).toBe(400);
  });

  test("a session that was closed gets 404", async () => {
    const sessions = newSessions();
    const id = await open(sessions, alice);
    const end = new Request("http://127.0.0.1/mcp", {
      method: "DELETE",
      headers: { "mcp-session-id": id },
    });
    await sessions.handle(end, { caller: alice, authInfo: toAuthInfo(alice) });
    expect(sessions.size).toBe(0);
    expect((await post(sessions, alice, list(1), id)).status).toBe(404);
  });

  test("a session refuses a second request with a running id and accepts it afterwards", async () => {
    const sessions = newSessions();
    const id = await open(sessions, alice);
    await post(sessions, alice, call(7, "hanging"), id);
    expect((await post(sessions, alice, list(7), id)).status).toBe(400);
    expect((await post(sessions, alice, list(8), id)).status).toBe(200);
    const cancelled = { requestId: 7 };
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled };
    await post(sessions, alice, notice, id);
    expect((await post(sessions, alice, list(7), id)).status).toBe(200);
    await sessions.close();
  });
});

describe("idle sessions", () => {
  test("idle sessions are closed after their time, working ones are not", async () => {
    const clock = createManualClock();
    const runtime = { ...createSystemRuntime(silentLog), now: clock.now, schedule: clock.schedule };
    const sessions = newSessions({ runtime, idleMs: 1_000 });
    const idle = await open(sessions, alice);
    const busy = await open(sessions, alice);
    const running = post(sessions, alice, call(1, "hanging"), busy);
    await clock.advance(900);
    expect(sessions.size).toBe(2);
    await clock.advance(600);
    expect((await running).headers.get("content-type")).toBe("text/event-stream");
    expect((await post(sessions, alice, list(1), idle)).status).toBe(404);
    expect((await post(sessions, alice, list(2), busy)).status).toBe(200);
    await sessions.close();
  });

  test("idle sessions are shared evenly by the callers that ask for them", async () => {
    const sessions = newSessions({ perGroup: 2 });
    const first = await open(sessions, alice);
    const second = await open(sessions, alice);
    const other = await open(sessions, bob);
    expect((await post(sessions, alice, list(1), first)).status).toBe(404);
    const third = await open(sessions, alice);
    expect((await post(sessions, alice, list(1), second)).status).toBe(404);
    expect((await post(sessions, alice, list(1), third)).status).toBe(200);
    expect((await post(sessions, bob, list(1), other)).status).toBe(200);
    await expect(open(sessions, carol)).rejects.toThrow("no session: 503");
    await open(sessions, owner);
  });

  test("a caller cannot open all sessions, and gets no new one while all of its own work", async () => {
    const sessions = newSessions({ perGroup: 10, perCaller: 2 });
    const working = await open(sessions, alice);
    await post(sessions, alice, call(1, "hanging"), working);
    for (let count = 0; count < 5; count += 1) await open(sessions, alice);
    expect(sessions.size).toBe(2);
    expect((await post(sessions, alice, list(2), working)).status).toBe(200);
    const last = await open(sessions, alice);
    await post(sessions, alice, call(1, "hanging"), last);
    await expect(open(sessions, alice)).rejects.toThrow("no session: 503");
    await open(sessions, bob);
    await sessions.close();
  });
});
