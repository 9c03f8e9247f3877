import { delegate } from "@agent/client";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { startSocketlessProxy } from "../testing/agents/socketless-proxy.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";

let relay: TestRelay;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  relay = await startTestRelay();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => relay.stop());

/** `closed` aborts when the agent waits for the answer no longer. */
type Delay = (closed: AbortSignal) => Promise<void>;

interface Surroundings {
  readonly at?: TestRelay;
  readonly now?: () => number;
}

const isLedger = (path: string) => path.endsWith("/ledger");

/** Starts an agent that signs ledgers and has no socket, so that its tasks arrive over MCP. */
async function startOverMcp(delay: Delay, { at = relay, ...clock }: Surroundings = {}) {
  const proxy = await startSocketlessProxy(
    () => at.url,
    (path, closed) => (isLedger(path) ? delay(closed) : undefined),
  );
  closing.push(proxy.close);
  return startJoinedAgent({ relayUrl: proxy.url, file, ...clock });
}

/** Starts an agent that signs ledgers and gets its tasks over its socket. */
function startOverSocket(delay: Delay, { at = relay, ...clock }: Surroundings = {}) {
  const delayedFetch: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const closed = init?.signal ?? new AbortController().signal;
    if (isLedger(new URL(url).pathname)) await Promise.race([delay(closed), aborted(closed)]);
    return fetch(input, init);
  };
  return startJoinedAgent({ relayUrl: at.url, file, fetch: delayedFetch, ...clock });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

const file = {
  ledgers: true,
  listing: { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 1 }] },
};

/** Lets an agent do a paid task; its ledgers reach the relay after `delay`. */
async function doTask(start: typeof startOverSocket, delay: Delay) {
  const agent = await start(delay);
  closing.push(agent.stop);
  const { agentId } = agent.agent.identity;
  const payer = createTestIdentity().agentId;
  await relay.operator.deposit({ params: { agentId: payer }, body: { amount: 5 } });
  const startedAt = performance.now();
  const done = await delegate(relay.operator, {
    agentId,
    prompt: "hi",
    submittedBy: payer,
    timeoutMs: 60_000,
  });
  if (!done.ok) throw new Error(done.message);
  const ms = performance.now() - startedAt;
  const listed = await relay.operator.listSettlements({ params: { agentId } });
  const settlement = listed.ok ? listed.body.settlements[0] : undefined;
  return { ms, settlement };
}

const wait = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));
const transports = [
  ["its socket", startOverSocket],
  ["MCP", startOverMcp],
] as const;

test.each(transports)(
  "E15: the settlement of a task that came over %s names the agent's ledger",
  async (_, start) => {
    const { settlement } = await doTask(start, wait(300));
    expect(settlement?.status).toBe("completed");
    expect(settlement?.ledger_hash).toMatch(/^[0-9a-f]{64}$/);
  },
);

test.each(transports)(
  "E15: an agent with a task over %s is paid soon although its relay never answers the ledger",
  async (_, start) => {
    const { ms, settlement } = await doTask(start, () => new Promise(() => {}));
    expect(settlement).toMatchObject({ status: "completed", amount_settled: 1, ledger_hash: null });
    expect(ms).toBeLessThan(10_000);
  },
  60_000,
);

/**
 * A clock that runs only while an agent waits for the answer to its ledger, so that the rest may take any
 * time on a busy machine.
 */
function createLedgerClock() {
  const start = Date.now();
  let passed = 0;
  let since: number | undefined;
  const read = () => passed + (since === undefined ? 0 : performance.now() - since);
  return {
    now: () => Math.floor(start + read()),
    passed: read,
    async leaveUnanswered(closed: AbortSignal): Promise<void> {
      since ??= performance.now();
      await aborted(closed);
      passed = read();
      since = undefined;
    },
  };
}

/** Less than the 5 s for which a ledger is waited for without a limit. */
const WALL_CLOCK_MS = 4_500;

/** Submits a paid task of this time to an agent, and expects that it is paid without a no-show. */
async function expectInTime(start: typeof startOverMcp) {
  const clock = createLedgerClock();
  const at = await startTestRelay(0, {}, clock.now);
  const agent = await start((closed) => clock.leaveUnanswered(closed), { at, now: clock.now });
  closing.push(agent.stop, at.stop);
  const { agentId } = agent.agent.identity;
  const payer = createTestIdentity().agentId;
  await at.operator.deposit({ params: { agentId: payer }, body: { amount: 5 } });
  const submitted = await at.operator.submitTask({
    params: { agentId },
    body: { prompt: "hi", submitted_by: payer, max_budget: 1, wall_clock_ms: WALL_CLOCK_MS },
  });
  if (!submitted.ok) throw new Error(submitted.message);
  const params = { agentId, taskId: submitted.body.task_id };
  await expect
    .poll(async () => await at.operator.getTask({ params }), { timeout: 50_000 })
    .toMatchObject({ body: { task: { status: "completed" } } });
  const evidence = await at.operator.getEvidence({ params });
  expect(evidence).toMatchObject({ ok: true, body: { settlements: [{ amount_settled: 1 }] } });
  expect(evidence).not.toHaveProperty("body.no_shows");
  expect(clock.passed()).toBeLessThan(WALL_CLOCK_MS);
}

test("E17: an agent that is late only because of its ledger does not count as a no-show", async () => {
  await expectInTime(startOverSocket);
}, 60_000);

test("E18: an agent that is late only because of its ledger does not count as a no-show for a task over MCP", async () => {
  await expectInTime(startOverMcp);
}, 60_000);
