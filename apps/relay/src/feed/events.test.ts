import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits, type RelayEvent } from "@agent/wire";
import { afterEach, describe, expect, test } from "vitest";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import {
  createReceipt,
  OPERATOR_TOKEN,
  startTestRelay,
  type TestRelay,
} from "../../test/test-relay.ts";

let t: TestRelay;
afterEach(() => t.close());

async function listEvents(query = ""): Promise<RelayEvent[]> {
  const { status, body } = await t.asOperator("GET", `/api/v1/admin/events?limit=200${query}`);
  expect(status).toBe(200);
  return body["events"] as RelayEvent[];
}

async function completeTask(status: "completed" | "failed" = "completed") {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/claim`);
  await t.clock.advance(400);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, { status }));
  return task;
}

describe("the events of the relay", () => {
  test("the events of the relay are numbered from 1 without gaps, also when many changes come at once", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 1)];
    const lists = await Promise.all([
      ...Array.from({ length: 20 }, () => submitAcceptedTask(t, boss, worker)),
      ...Array.from({ length: 5 }, () => listEvents()),
    ]);
    expect(lists).toHaveLength(25);
    const numbers = (await listEvents()).map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  });

  test("the events of the relay report the states of a task and its money in order", async () => {
    t = await startTestRelay();
    const task = await completeTask();
    const events = await listEvents();
    const ofTask = events.filter((event) => event["task_id"] === task.task_id);
    expect(ofTask.map(({ type }) => type)).toEqual([
      "task.submitted",
      "task.claimed",
      "task.completed",
      "money.settled",
    ]);
    expect(ofTask[2]).toMatchObject({ duration_ms: 400 });
    expect(ofTask[3]).toMatchObject({ amount: 2, fee: 0.1 });
    expect(events.map(({ type }) => type)).toContain("money.deposited");
  });

  test("the events of the relay contain nothing about a change that was refused", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 1), await createSeller(t, 2)];
    const before = await listEvents();
    const path = `/agent/${worker.agentId}/task`;
    expect(await t.as(boss, "POST", path, { prompt: "work" })).toMatchObject({ status: 402 });
    expect(await listEvents()).toEqual(before);
  });

  test("the events of the relay show a freeze while it lasts, and then its end", async () => {
    t = await startTestRelay();
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    expect((await listEvents()).at(-1)).toMatchObject({
      type: "relay.frozen",
      reason: "an audit",
      by: "operator",
    });
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect((await listEvents()).at(-1)).toMatchObject({ type: "relay.unfrozen" });
  });

  test("the events of the relay continue with the next number after a restart, and can be read from any number on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-events-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    t = await startTestRelay(env);
    await completeTask();
    const before = await listEvents();
    await t.close();
    t = await startTestRelay(env, 2);
    await completeTask("failed");
    const after = await listEvents(`&after=${before.length}`);
    expect(after[0]).toMatchObject({ sequence: before.length + 1 });
    expect((await listEvents()).slice(0, before.length)).toEqual(before);
    rmSync(folder, { recursive: true });
  });

  test("the events of the relay arrive on a stream after the last one that the client has", async () => {
    t = await startTestRelay();
    await completeTask();
    const before = await listEvents();
    const request = new Request("http://relay.test/api/v1/admin/events", {
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        accept: "text/event-stream",
        "last-event-id": String(before.length),
      },
    });
    const { body } = await t.relay.fetch(request);
    const text = new Response(body).text();
    const agent = await t.createAgent();
    await t.clock.advance(limits.relayEventPollMs);
    await t.deposit(agent, 3);
    await t.clock.advance(limits.relayEventPollMs);
    const all = await listEvents();
    await t.relay.drain();
    const ids = [...(await text).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(all.slice(before.length).map(({ sequence }) => sequence));
    expect(await text).toContain("event: money.deposited");
  });

  test("events older than a week are deleted, and their numbers are not used again", async () => {
    t = await startTestRelay();
    await completeTask();
    const before = await listEvents();
    await t.clock.advance(limits.relayEventMs + 60_000);
    await t.relay.tick();
    expect(await listEvents()).toEqual([]);
    await t.createAgent();
    expect((await listEvents())[0]).toMatchObject({ sequence: before.length + 1 });
  });
});

test("the figures of single minutes add up to the figure of a longer step", async () => {
  t = await startTestRelay();
  for (let minute = 0; minute < 6; minute += 1) {
    await completeTask(minute === 5 ? "failed" : "completed");
    await t.clock.advance(59_600);
    await t.relay.tick();
  }
  const ask = async (query: string) => {
    const { status, body } = await t.asOperator("GET", `/api/v1/admin/series?${query}`);
    expect(status).toBe(200);
    return (body["points"] as { value: number | null }[]).map(({ value }) => value ?? 0);
  };
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  for (const [metric, total] of [
    ["submitted", 6],
    ["completed", 5],
    ["failed", 1],
    ["settled", 10],
    ["fees", 0.5],
  ] as const) {
    expect(sum(await ask(`metric=${metric}`))).toBeCloseTo(total, 6);
    expect(sum(await ask(`metric=${metric}&step=600000`))).toBeCloseTo(total, 6);
  }
  expect(Math.max(...(await ask("metric=p95&step=3600000")))).toBeGreaterThan(380);
  expect((await t.asOperator("GET", "/api/v1/admin/series?metric=speed")).status).toBe(400);
  expect((await t.asOperator("GET", "/api/v1/admin/series?metric=fees&step=1")).status).toBe(400);
});
