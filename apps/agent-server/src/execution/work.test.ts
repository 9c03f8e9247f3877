import type { ExecutionReceipt } from "@agent/receipts";
import { describe, expect, test, vi } from "vitest";
import type { RelayFeatures } from "../relay/relay-features.ts";
import { owner, type Caller } from "../caller.ts";
import { createTestAgent, startTestServer, TEST_TOKEN } from "../testing/agents/test-agent.ts";
import { connectClient } from "../testing/tools/connect-client.ts";
import { createHangingTool, createTextTool } from "../testing/tools/test-tools.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { CallCancelled } from "./abort-reasons.ts";
import { createWork } from "./work.ts";

const relay: Caller = { kind: "relay", relayId: "relay-1" };

function counting() {
  let runs = 0;
  const tool = createTextTool("counting", () => ({ ok: true, data: String(++runs) }));
  return { work: createTestAgent({ tools: [tool] }).work, runs: () => runs };
}

const newWork = (prompt: string, relayTaskId?: string) => ({
  prompt,
  requiredCapabilities: [],
  ...(relayTaskId !== undefined && { relayTaskId }),
});

describe("a relay task", () => {
  test("a relay task runs once, however often and over whichever transport it arrives", async () => {
    const { work, runs } = counting();
    const answers = await Promise.all([
      work.accept(newWork("p", "t"), { caller: relay }),
      work.accept(newWork("p", "t"), { caller: relay }),
      work.accept(newWork("p", "t"), { caller: owner }),
    ]);
    const later = await work.accept(newWork("p", "t"), { caller: relay });
    expect(runs()).toBe(1);
    expect(new Set([...answers, later].map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test("a relay task is refused when its id arrives with another prompt", async () => {
    const { work, runs } = counting();
    await work.accept(newWork("p", "t"), { caller: relay });
    const answer = await work.accept(newWork("other", "t"), { caller: relay });
    expect(answer.ok ? "" : answer.error).toContain("another prompt");
    expect(runs()).toBe(1);
  });

  test("a relay task from another agent is refused, because it would choose the text of a paid receipt", async () => {
    const { work, runs } = counting();
    const caller: Caller = { kind: "agent", agentId: "a", trust: "trusted" };
    expect(await work.accept(newWork("p", "t"), { caller })).toMatchObject({ ok: false });
    expect(await work.accept(newWork("p"), { caller })).toMatchObject({ ok: true });
    expect(runs()).toBe(1);
  });

  test("a relay task continues when its caller disconnects, and stops when the relay cancels it", async () => {
    const { work } = createTestAgent({ tools: [createHangingTool()] });
    const gone = new AbortController();
    const answer = work.accept(newWork("p", "t"), { caller: relay, signal: gone.signal });
    gone.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    work.cancel("t");
    expect(await answer).toMatchObject({ ok: true, receipt: { result: "The task was cancelled" } });
  });
});

test("work that is withdrawn while its token's issuer cannot be looked up is given back", async () => {
  const looked = Promise.withResolvers<{ ok: false }>();
  const released: string[] = [];
  const work = createWork({
    run: async () => expect.fail("the work must not run"),
    checkDelegation: () => looked.promise,
    runtime: createSystemRuntime(silentLog),
    deliver: undefined,
    release: async (id) => void released.push(id),
  });
  const gone = new AbortController();
  const answer = work.accept(newWork("p", "t"), { caller: relay, signal: gone.signal });
  gone.abort(new CallCancelled({ byClosing: false }));
  looked.resolve({ ok: false });
  expect(await answer).toMatchObject({ ok: false, code: "work.withdrawn" });
  expect(released).toEqual(["t"]);

  const kept = work.accept(newWork("p", "u"), { caller: relay });
  expect(await kept).toEqual({
    ok: false,
    error: "The delegation token cannot be checked now",
  });
  expect(released).toEqual(["t"]);
});

test("local work stops when its caller disconnects", async () => {
  const { work } = createTestAgent({ tools: [createHangingTool()] });
  const gone = new AbortController();
  const answer = work.accept(newWork("p"), { caller: owner, signal: gone.signal });
  gone.abort();
  expect(await answer).toMatchObject({ receipt: { result: "The task was cancelled" } });
});

test("each receipt of a relay task is passed to delivery, whichever caller requested it", async () => {
  const delivered: unknown[] = [];
  const { receipt } = await completed();
  const work = createWork({
    run: async () => ({ receipt }),
    checkDelegation: async () => ({ ok: true, rights: {} }),
    runtime: createSystemRuntime(silentLog),
    deliver: async (one, target) => void delivered.push([one, target]),
  });
  await work.accept(newWork("p"), { caller: owner });
  expect(delivered).toEqual([]);
  await work.accept(newWork("p", "b"), { caller: owner });
  await work.accept({ ...newWork("p", "a"), targetAgentId: "target" }, { caller: relay });
  expect(delivered).toEqual([
    [{ receipt }, undefined],
    [{ receipt }, "target"],
  ]);
});

test("finished work with an undelivered receipt does not run again", async () => {
  const { receipt } = await completed();
  const work = createWork({
    run: () => Promise.reject(new Error("was run again")),
    checkDelegation: async () => ({ ok: true, rights: {} }),
    runtime: createSystemRuntime(silentLog),
    deliver: async () => {},
    undelivered: (taskId) => (taskId === "done" ? receipt : undefined),
  });
  expect(await work.accept(newWork("p", "done"), { caller: relay })).toEqual({ ok: true, receipt });
  const other = await work.accept(newWork("other", "done"), { caller: relay });
  expect(other.ok ? "" : other.error).toContain("another prompt");
});

test("work with a malformed delegation token is denied", async () => {
  const { work, runs } = counting();
  const answer = await work.accept({ ...newWork("p"), delegationToken: "{}" }, { caller: owner });
  expect(answer).toMatchObject({ ok: true, receipt: { status: "denied", tools_used: [] } });
  expect(runs()).toBe(0);
});

describe("an agent that stops", () => {
  test("a stopping agent refuses new work and signs unfinished work as failed", async () => {
    const { work } = createTestAgent({ tools: [createHangingTool()] });
    const running = work.accept(newWork("p"), { caller: owner });
    await work.stop(20);
    expect(await running).toMatchObject({ receipt: { status: "failed" } });
    expect(await work.accept(newWork("p"), { caller: owner })).toMatchObject({ ok: false });
  });
});

async function completed() {
  const answer = await counting().work.accept(newWork("p"), { caller: owner });
  if (!answer.ok) throw new Error(answer.error);
  return answer;
}

describe("B2: work on a relay task that is withdrawn", () => {
  test("B2: withdrawn work stops its tool, and no receipt is signed or delivered", async () => {
    const stopped = Promise.withResolvers<void>();
    const delivered: ExecutionReceipt[] = [];
    const { work } = createTestAgent({
      tools: [createHangingTool(() => stopped.resolve())],
      relay: homeThatDelivers(delivered),
    });
    const answer = work.accept(newWork("p", "t"), { caller: relay });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(work.withdraw("t")).toBe("stopping");
    await stopped.promise;
    expect(await answer).toMatchObject({ ok: false, code: "work.withdrawn" });
    expect([delivered, work.withdraw("t")]).toEqual([[], "unknown"]);
  });

  test("B2: withdrawn work can be accepted again", async () => {
    let runs = 0;
    const tool = createTextTool("once-slow", (text) =>
      runs++ === 0 ? new Promise(() => {}) : { ok: true, data: text },
    );
    const { work } = createTestAgent({ tools: [tool] });
    const first = work.accept(newWork("p", "t"), { caller: relay });
    await new Promise((resolve) => setTimeout(resolve, 20));
    work.withdraw("t");
    expect(await first).toMatchObject({ ok: false });
    const again = await work.accept(newWork("p", "t"), { caller: relay });
    expect(again).toMatchObject({ ok: true, receipt: { status: "completed" } });
  });

  test("B2: withdrawal keeps a receipt that is already signed", async () => {
    const delivered: ExecutionReceipt[] = [];
    const { work } = createTestAgent({ relay: homeThatDelivers(delivered) });
    await work.accept(newWork("p", "t"), { caller: relay });
    expect(work.withdraw("t")).toBe("signed");
    expect(delivered).toMatchObject([{ task_id: "t", status: "completed" }]);
  });

  test.each(["auto", "legacy"] as const)(
    "B2: work stops when its MCP call is cancelled (%s)",
    async (era) => {
      const stopped = Promise.withResolvers<void>();
      const delivered: ExecutionReceipt[] = [];
      const server = await startTestServer({
        tools: [createHangingTool(() => stopped.resolve())],
        relay: homeThatDelivers(delivered),
      });
      const client = await connectClient(server.url, TEST_TOKEN, era);
      const cancel = new AbortController();
      const call = client.callTool(
        { name: "agent_task", arguments: { prompt: "p", relay_task_id: "t" } },
        { signal: cancel.signal },
      );
      const ended = call.then(
        () => "answered",
        () => "rejected",
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
      cancel.abort();
      await stopped.promise;
      expect(await ended).toBe("rejected");
      expect(delivered).toEqual([]);
      await client.close();
      await server.close();
    },
  );

  test.each([
    [true, "continues", "signed"],
    [false, "stops", "unknown"],
  ] as const)(
    "B2: work whose call the relay closed, and that the relay still waits for: %s, %s",
    async (wanted, _, later) => {
      const finish = Promise.withResolvers<void>();
      const delivered: ExecutionReceipt[] = [];
      const slow = createTextTool("slow", async (text) => {
        await finish.promise;
        return { ok: true, data: text };
      });
      const features = { ...homeThatDelivers(delivered), isWanted: async () => wanted };
      const { work } = createTestAgent({ tools: [slow], relay: features });
      const closed = new AbortController();
      const answer = work.accept(newWork("p", "t"), { caller: relay, signal: closed.signal });
      await new Promise((resolve) => setTimeout(resolve, 20));
      closed.abort(new CallCancelled({ byClosing: true }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      finish.resolve();
      expect((await answer).ok).toBe(wanted);
      expect([delivered.length, work.withdraw("t")]).toEqual([wanted ? 1 : 0, later]);
    },
  );

  test("B2: work continues when the session of its MCP call ends without a cancellation", async () => {
    const finish = Promise.withResolvers<void>();
    const delivered: ExecutionReceipt[] = [];
    const slow = createTextTool("slow", async (text) => {
      await finish.promise;
      return { ok: true, data: text };
    });
    const server = await startTestServer({ tools: [slow], relay: homeThatDelivers(delivered) });
    const client = await connectClient(server.url, TEST_TOKEN, "legacy");
    const args = { prompt: "p", relay_task_id: "t" };
    const call = client.callTool({ name: "agent_task", arguments: args }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.close();
    await call;
    finish.resolve();
    await vi.waitFor(() => expect(delivered).toMatchObject([{ status: "completed" }]));
    await server.close();
  });
});

function homeThatDelivers(delivered: ExecutionReceipt[]): RelayFeatures {
  return {
    deviceId: () => undefined,
    delegateTask: async () => ({ ok: false, error: "This agent does not delegate" }),
    findIssuerKey: async () => ({ status: "unknown" }),
    deliverWork: async ({ receipt }) => void delivered.push(receipt),
    findUndelivered: () => undefined,
  };
}
