import { LEDGER_EVENT_TYPES, verifyLedger, type Ledger } from "@agent/ledger";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ledgerPath, manifestPath } from "../../test/agents/ledgers.ts";
import { submitAcceptedTask } from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

const GOAL = "goal";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "0" });
  agent = await t.createAgent();
});
afterEach(() => t.close());

async function append(records: readonly { type: string; payload: object }[]): Promise<void> {
  const at = t.clock.now();
  const events = records.map((each) => ({ ...each, timestamp: at, goal_id: GOAL }));
  const path = `/api/v1/agents/${agent.agentId}/events`;
  expect(await t.as(agent, "POST", path, { events })).toMatchObject({ status: 201 });
}

async function store(index: number, steps: readonly object[]): Promise<void> {
  const plan = { plan_id: `plan-${index}`, goal_id: GOAL, title: "Plan", status: "active", steps };
  const path = `/api/v1/agents/${agent.agentId}/plans`;
  await t.clock.advance(1);
  expect(await t.as(agent, "POST", path, plan)).toMatchObject({ status: 201 });
}

/** Expects both forms of the ledger to be readable by clients, and returns it. */
async function readLedger(): Promise<Ledger> {
  const answers: Reply[] = [];
  for (const path of [ledgerPath, manifestPath]) {
    const answer = await t.as(agent, "GET", path(agent, GOAL));
    expect(answer.status).toBe(200);
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(limits.outboundBytes);
    answers.push(answer);
  }
  const ledger = answers[0]?.body as unknown as Ledger;
  expect(answers[1]?.body).toEqual(ledger);
  expect(verifyLedger(ledger, { agentId: agent.agentId }).valid).toBe(true);
  return ledger;
}

const call = (index: number) => ({
  type: "tool_invoked",
  payload: { tool: "search", args_hash: "ab".repeat(32), call_id: `call-${index}` },
});
const begin = (step_id: string) => ({
  type: "step_started",
  payload: { step_id, ordinal: 0, description: "d" },
});
const repeat = <T>(length: number, create: (index: number) => T) =>
  Array.from({ length }, (_, index) => create(index));

/** Counts the events that are read in each turn of the event loop, and the turns from the last one to the answer. */
function watchTurns() {
  const parsedPerTurn = [0];
  let [lastEventAt, answeredAt] = [0, 0];
  const original = JSON.parse;
  const parse = vi.spyOn(JSON, "parse").mockImplementation((text: string, ...rest) => {
    const turn = parsedPerTurn.length - 1;
    if (text.startsWith('{"tool"')) {
      parsedPerTurn[turn]! += 1;
      lastEventAt = turn;
    }
    if (text.startsWith('{"spec"')) answeredAt = turn;
    return original(text, ...rest) as unknown;
  });
  let immediate = setImmediate(function next() {
    parsedPerTurn.push(0);
    immediate = setImmediate(next);
  });
  return {
    end() {
      clearImmediate(immediate);
      parse.mockRestore();
      return { parsedPerTurn, turnsAfterLastEvent: answeredAt - lastEventAt };
    },
  };
}

describe("ledgers of large goals", () => {
  test("H28: a ledger that the relay builds from long events holds as many of the first as clients can read", async () => {
    await append([begin("step")]);
    const error = "e".repeat(limits.eventCharacters - 100);
    for (let batch = 0; batch < 5; batch += 1) {
      await append(
        repeat(60, () => ({ type: "step_failed", payload: { error, step_id: "step" } })),
      );
    }
    const { timeline } = await readLedger();
    expect(timeline.length).toBeGreaterThan(60);
    expect(timeline.slice(0, 2).map(({ type }) => type)).toEqual(["goal_started", "step_started"]);
  });

  test("H28: the id of a step, which each of its events repeats, counts with each of them", async () => {
    await append([begin("s".repeat(limits.eventCharacters - 100))]);
    for (let batch = 0; batch < 5; batch += 1) {
      await append(repeat(limits.recordBatch, (index) => call(batch * limits.recordBatch + index)));
    }
    expect((await readLedger()).timeline.length).toBeGreaterThan(60);
  });

  test("H28: a ledger that the relay builds from long plans is one that clients can read", async () => {
    const description = "d".repeat(limits.longText);
    for (let plan = 0; plan < 6; plan += 1) {
      await store(
        plan,
        repeat(100, (index) => ({
          step_id: `step-${plan}-${index}`,
          ordinal: index,
          description,
          status: "completed",
        })),
      );
    }
    expect((await readLedger()).plan_id).toBe("plan-5");
  });

  test("H28: a ledger that the relay builds from receipts with many tools is one that clients can read", async () => {
    await store(0, [{ step_id: "step", ordinal: 0, description: "d", status: "delegated" }]);
    const helper = await t.createAgent();
    for (let count = 0; count < 5; count += 1) {
      const task = await submitAcceptedTask(t, agent, helper, { step_id: "step" });
      const receipt = createReceipt(helper, task, { tools_used: ["t".repeat(600_000)] });
      expect(await t.as(helper, "POST", `${task.path}/result`, receipt)).toMatchObject({
        status: 200,
      });
    }
    expect((await readLedger()).delegation_receipts?.length).toBeGreaterThan(0);
  });

  test("events of other types, and the usual length of a long goal, leave nothing out of its ledger", async () => {
    const note = "n".repeat(limits.eventCharacters - 100);
    expect(LEDGER_EVENT_TYPES).not.toContain("memory_formed");
    for (let batch = 0; batch < 4; batch += 1) {
      await append(repeat(60, () => ({ type: "memory_formed", payload: { note } })));
    }
    await append([begin("step")]);
    const calls = 3_000;
    for (let first = 0; first < calls; first += limits.recordBatch) {
      await append(repeat(limits.recordBatch, (index) => call(first + index)));
    }
    const { timeline } = await readLedger();
    expect(timeline.filter(({ type }) => type === "tool_invoked")).toHaveLength(calls);
  });

  test.each([
    ["ledger", ledgerPath],
    ["manifest", manifestPath],
  ])(
    "H32: other work runs between the pieces of a %s of many events, which are read, parsed and hashed",
    async (_, path) => {
      const calls = 2_000;
      for (let first = 0; first < calls; first += limits.recordBatch) {
        await append(repeat(limits.recordBatch, (index) => call(first + index)));
      }
      const watch = watchTurns();
      expect(await t.as(agent, "GET", path(agent, GOAL))).toMatchObject({ status: 200 });
      const { parsedPerTurn, turnsAfterLastEvent } = watch.end();
      expect(Math.max(...parsedPerTurn)).toBeLessThanOrEqual(100);
      expect(turnsAfterLastEvent).toBeGreaterThan(10);
    },
  );
});
