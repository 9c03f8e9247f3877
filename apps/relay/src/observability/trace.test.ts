import type { IncomingHttpHeaders } from "node:http";
import { startLoopbackServer } from "@agent/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { parseTrace, createTraceHeaders, withTrace } from "./trace.ts";

const id = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";
const parent = `00-${id}-${span}-01`;
const read = (traceparent: string, tracestate?: string) =>
  parseTrace(new Headers({ traceparent, ...(tracestate !== undefined && { tracestate }) }));
const seven = (length: number) => new Uint8Array(length).fill(7);

describe("a traceparent", () => {
  test("a traceparent is accepted with its state and continued in another span", () => {
    const trace = read(parent, "vendor=1");
    expect(trace).toEqual({ traceId: id, flags: "01", state: "vendor=1" });
    expect(withTrace(trace, () => createTraceHeaders(seven))).toEqual({
      traceparent: `00-${id}-0707070707070707-01`,
      tracestate: "vendor=1",
    });
  });

  test("a traceparent of a later version may have more fields", () => {
    expect(read(`01-${id}-${span}-00-what-comes`)).toMatchObject({ traceId: id });
  });

  test.each([
    ["nothing", ""],
    ["junk", "junk"],
    ["capitals", parent.toUpperCase()],
    ["no trace", `00-${"0".repeat(32)}-${span}-01`],
    ["no parent", `00-${id}-${"0".repeat(16)}-01`],
    ["a forbidden version", `ff-${id}-${span}-01`],
    ["more than its version knows", `${parent}-more`],
  ])("a traceparent with %s is ignored", (_, text) => {
    expect(read(text)).toBeUndefined();
    expect(withTrace(read(text), () => createTraceHeaders(seven))).toEqual({});
  });

  test("a tracestate of more than 512 characters is dropped", () => {
    expect(read(parent, "x".repeat(513))).toMatchObject({ state: null });
  });
});

describe("a request in a trace", () => {
  let t: TestRelay;
  afterEach(() => t.close());

  test("a trace is continued in the call of an agent's endpoint, and the relay starts no trace by itself", async () => {
    const seen = new Map<string, IncomingHttpHeaders>();
    const server = await startLoopbackServer((request, response) => {
      seen.set(request.url ?? "", request.headers);
      response.writeHead(500).end();
    });
    t = await startTestRelay();
    const boss = await t.createAgent();
    const calledAt = async (path: string, headers: Record<string, string>) => {
      const worker = await t.createAgent();
      await t.as(worker, "POST", "/api/v1/agents/register", {
        agent_id: worker.agentId,
        endpoint_url: `${server.url}${path}`,
        capabilities: [],
        metadata: { name: "w", description: "" },
      });
      const token = await t.token(boss);
      const body = { prompt: "work" };
      await t.request("POST", `/agent/${worker.agentId}/task`, { token, body, headers });
      await expect.poll(() => seen.get(path)).toBeDefined();
      return seen.get(path);
    };
    const traced = await calledAt("/traced", { traceparent: parent, tracestate: "vendor=1" });
    expect(traced).toMatchObject({ tracestate: "vendor=1" });
    expect(traced?.["traceparent"]).toMatch(new RegExp(`^00-${id}-(?!${span})[0-9a-f]{16}-01$`));
    expect(await calledAt("/untraced", {})).not.toHaveProperty("traceparent");
    await server.close();
  });

  test("B8: a trace is continued in a later call after the endpoint was unreachable", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = await startLoopbackServer((request, response) => {
      seen.push(request.headers);
      // The first call ends without an answer.
      if (seen.length === 1) return void request.socket.destroy();
      response.writeHead(500).end();
    });
    t = await startTestRelay();
    const [boss, worker] = [await t.createAgent(), await t.createAgent()];
    await t.as(worker, "POST", "/api/v1/agents/register", {
      agent_id: worker.agentId,
      endpoint_url: `${server.url}/`,
      capabilities: [],
      metadata: {},
    });
    const token = await t.token(boss);
    const headers = { traceparent: parent, tracestate: "vendor=1" };
    const body = { prompt: "work" };
    await t.request("POST", `/agent/${worker.agentId}/task`, { token, body, headers });
    await expect.poll(() => seen.length).toBe(1);
    await expect
      .poll(async () => {
        await t.clock.advance(1_000);
        return seen.length;
      })
      .toBeGreaterThan(1);
    for (const each of seen) {
      expect(each["traceparent"]).toMatch(new RegExp(`^00-${id}-(?!${span})[0-9a-f]{16}-01$`));
      expect(each["tracestate"]).toBe("vendor=1");
    }
    await server.close();
  });
});
