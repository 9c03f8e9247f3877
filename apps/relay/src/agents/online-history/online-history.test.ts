import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { DAY_MS, startJumpingRelay } from "../../../test/processes/clock-jump-relay.ts";
import { serveTestRelay } from "../../../test/devices.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { AWAKE_MS } from "../discovery/freshness.ts";

const MINUTE_MS = 60_000;

let t: TestRelay;
afterEach(() => t.close());

type Span = { readonly from: number; readonly until: number };
type History = {
  readonly from: number;
  readonly to: number;
  readonly spans: Span[];
  readonly watched: Span[];
};

async function getHistory({ agentId }: Pick<TestAgent, "agentId">, query = "") {
  const path = `/api/v1/admin/agents/${agentId}/online-history${query}`;
  const { status, body } = await t.asOperator("GET", path);
  expect(status).toBe(200);
  return body as unknown as History;
}

/** Runs the jobs of some minutes, each a minute after the one before. */
async function runMinutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    await t.clock.advance(MINUTE_MS);
    await t.relay.tick();
  }
}

describe("the online history of an agent", () => {
  test("the online history shows when a device of the agent was connected", async () => {
    const served = await serveTestRelay();
    t = served;
    const agent = await t.createAgent();
    await served.advance(5 * MINUTE_MS);
    const device = await served.connectDevice(agent);
    const came = t.clock.now();
    // A socket ends with its token, after 5 minutes.
    await served.advance(4 * MINUTE_MS);
    device.socket.terminate();
    const left = t.clock.now();
    await served.advance(10 * MINUTE_MS);
    const { spans, watched, to } = await getHistory(agent);
    expect(spans).toHaveLength(1);
    const [span] = spans as [Span];
    expect(Math.abs(span.from - came)).toBeLessThanOrEqual(MINUTE_MS + 1_000);
    expect(Math.abs(span.until - left)).toBeLessThanOrEqual(MINUTE_MS + 1_000);
    expect(watched).toHaveLength(1);
    expect(to).toBe(t.clock.now());
  });

  test("the online history shows an agent with an endpoint as long as it counts as online", async () => {
    t = await startTestRelay();
    const agent = await t.createWorker(1);
    const joined = t.clock.now();
    await t.relay.tick();
    await runMinutes(20);
    expect((await getHistory(agent)).spans).toEqual([{ from: joined, until: joined + AWAKE_MS }]);
  });

  test("the online history begins a day ago, or at the requested time, but at most a week ago", async () => {
    t = await startTestRelay();
    const agent = await t.createWorker(1);
    const now = t.clock.now();
    expect(await getHistory(agent)).toMatchObject({ from: now - DAY_MS, to: now });
    expect(await getHistory(agent, `?from=${now - 5}`)).toMatchObject({ from: now - 5, to: now });
    expect(await getHistory(agent, "?from=0")).toMatchObject({ from: now - 7 * DAY_MS, to: now });
    const later = await getHistory(agent, `?from=${now + DAY_MS}`);
    expect(later).toMatchObject({ from: now, to: now, spans: [], watched: [] });
    const path = `/api/v1/admin/agents/${agent.agentId}/online-history?from=soon`;
    expect(await t.asOperator("GET", path)).toMatchObject({ status: 400 });
  });

  test("the online history cuts off a span at the requested beginning", async () => {
    t = await startTestRelay();
    const agent = await t.createWorker(1);
    await t.relay.tick();
    await runMinutes(10);
    const from = t.clock.now() - 7 * MINUTE_MS;
    const history = await getHistory(agent, `?from=${from}`);
    expect(history.spans).toEqual([{ from, until: from + 3 * MINUTE_MS }]);
    expect(history.watched).toEqual([{ from, until: t.clock.now() }]);
  });

  test("the online history leaves out the time before the agent was known", async () => {
    t = await startTestRelay();
    await t.relay.tick();
    await runMinutes(10);
    const agent = await t.createWorker(1);
    const known = t.clock.now();
    await runMinutes(2);
    const { watched, spans } = await getHistory(agent);
    // The first look that could find it was a minute later.
    expect(watched).toEqual([{ from: known + MINUTE_MS, until: t.clock.now() }]);
    expect(spans).toEqual(watched);
  });

  test("the online history of an agent that is never online begins when the relay first knew the agent", async () => {
    t = await startTestRelay();
    await t.relay.tick();
    await runMinutes(1);
    const agent = await t.createAgent();
    const known = t.clock.now();
    await runMinutes(2);
    const watched = [{ from: known, until: t.clock.now() }];
    expect(await getHistory(agent)).toMatchObject({ spans: [], watched });
  });

  test("the online history leaves out what the relay did not see while it was frozen", async () => {
    t = await startTestRelay();
    const agent = await t.createWorker(1);
    const begin = t.clock.now();
    await t.relay.tick();
    await runMinutes(3);
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    await runMinutes(30);
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    await runMinutes(2);
    const seen = { from: begin, until: begin + 3 * MINUTE_MS };
    expect(await getHistory(agent)).toMatchObject({
      spans: [seen],
      watched: [seen, { from: t.clock.now() - MINUTE_MS, until: t.clock.now() }],
    });
  });
});

describe("the history after a restart", () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-online-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ["the history goes on after a short restart", 1, 1],
    ["the history has a gap after a long restart", 4, 2],
  ])("%s", async (name, minutesAway, spans) => {
    const env = { AGENT_DB_PATH: join(folder, `${name}.db`) };
    t = await startTestRelay(env);
    const agent = await t.createWorker(1);
    const begin = t.clock.now();
    await t.relay.tick();
    await runMinutes(1);
    await t.close();
    const { clock } = t;
    await clock.advance(minutesAway * MINUTE_MS);
    t = await startTestRelay(env, 2, clock);
    await t.relay.tick();
    const history = await getHistory(agent);
    expect(history.spans).toHaveLength(spans);
    expect(history.watched).toEqual(history.spans);
    expect(history.spans[0]?.from).toBe(begin);
    expect(history.spans.at(-1)?.until).toBe(clock.now());
  });
});

test("A5: a clock that was wrong for a while leaves no time in the future", async () => {
  const jumping = await startJumpingRelay();
  t = jumping;
  const agent = await t.createWorker(1);
  await jumping.advance(3 * MINUTE_MS);
  jumping.setAhead(2 * DAY_MS);
  await jumping.advance(1_000);
  await t.asOperator("POST", "/api/v1/admin/clock/accept");
  await t.as(agent, "POST", "/api/v1/agents/heartbeat", { agent_id: agent.agentId });
  await jumping.advance(3 * MINUTE_MS);
  jumping.setAhead(0);
  await jumping.advance(1_000);
  await t.asOperator("POST", "/api/v1/admin/clock/accept");
  await jumping.advance(3 * MINUTE_MS);
  const { to, spans, watched } = await getHistory(agent, "?from=0");
  expect(to).toBe(t.clock.now());
  for (const { from, until } of [...spans, ...watched]) {
    expect(from).toBeLessThanOrEqual(until);
    expect(until).toBeLessThanOrEqual(to);
  }
  expect(watched).toHaveLength(2);
});
