import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createLog } from "../observability/log.ts";
import type { DueWebhook } from "./store.ts";
import { createWebhookLanes } from "./webhook-lanes.ts";

const SLOW_MS = 15_000;
const LANES = 512;
const MAX_LISTED = 1_000;

interface Party {
  readonly owner: string;
  readonly webhooks: number;
  readonly answerMs: number;
}

/** Runs lanes for a time in which each webhook always has a due delivery; returns the times of the messages. */
async function runParties(parties: readonly Party[], forMs: number) {
  const clock = createManualClock(0);
  const lanes = createWebhookLanes(silentLog, clock.now);
  const sent = new Map<string, number[]>();
  const running = new Map<string, number>();
  const endedAt = new Map<string, number>();
  const answerOf = new Map(parties.map(({ owner, answerMs }) => [owner, answerMs]));
  const busy = new Set<string>();
  let [most, mostOfOwner] = [0, 0];

  const deliver = async ({ webhook_id, owner }: DueWebhook, mayContinue: () => boolean) => {
    expect(busy).not.toContain(webhook_id);
    busy.add(webhook_id);
    running.set(owner, (running.get(owner) ?? 0) + 1);
    mostOfOwner = Math.max(mostOfOwner, running.get(owner) ?? 0);
    most = Math.max(most, busy.size);
    do {
      sent.set(webhook_id, [...(sent.get(webhook_id) ?? []), clock.now()]);
      await new Promise<void>((done) => clock.schedule(answerOf.get(owner) ?? 0, done));
    } while (mayContinue());
    running.set(owner, (running.get(owner) ?? 0) - 1);
    busy.delete(webhook_id);
    endedAt.set(webhook_id, clock.now());
  };

  /** Lists as the store does: the first webhook of each owner, then the second ones and so on. */
  const list = (): DueWebhook[] => {
    const ring = parties.toSorted((a, b) => (a.owner < b.owner ? -1 : 1));
    const next = ring.findIndex(({ owner }) => owner > lanes.lastOwner());
    const owners = next === -1 ? ring : [...ring.slice(next), ...ring.slice(0, next)];
    const queues = owners.map(({ owner, webhooks }) =>
      Array.from({ length: webhooks }, (__, at) => `${owner}/${at}`)
        .toSorted((a, b) => (endedAt.get(a) ?? 0) - (endedAt.get(b) ?? 0))
        .map((webhook_id) => ({ webhook_id, owner })),
    );
    return Array.from({ length: 20 }, (__, place) => queues.flatMap((queue) => queue[place] ?? []))
      .flat()
      .slice(0, MAX_LISTED);
  };

  for (let passed = 0; passed < forMs; passed += 1_000) {
    if (lanes.hasRoom()) {
      const due = list();
      lanes.begin({ due, isWhole: due.length < MAX_LISTED }, deliver);
    }
    await clock.advance(1_000);
  }
  return { sent, most, mostOfOwner };
}

const silentLog = createLog({
  level: "error",
  write: { stdout() {}, stderr() {} },
  now: () => 0,
});

const createSlowParties = (count: number, webhooks: number): Party[] =>
  Array.from({ length: count }, (_, at) => ({
    owner: `slow-${String(at).padStart(5, "0")}`,
    webhooks,
    answerMs: SLOW_MS,
  }));

/** The longest time without a message, from the start to the end. */
const longestWait = (times: readonly number[] = [], until: number) =>
  Math.max(...[...times, until].map((time, at) => time - (times[at - 1] ?? 0)));

test.each([
  [50, 20],
  [128, 4],
  [600, 1],
  [1_100, 2],
])(
  "H3: none of %i owners with %i slow webhooks each waits longer than a round of all owners",
  async (count, webhooks) => {
    const honest = { owner: "slow-00040-honest", webhooks: 1, answerMs: 100 };
    const parties = [...createSlowParties(count, webhooks), honest];
    // Each lane is held for one slow answer, and the next one is listed within a second.
    const bound = Math.ceil(parties.length / LANES) * (SLOW_MS + 1_000);
    const forMs = 3 * bound;
    const { sent, most, mostOfOwner } = await runParties(parties, forMs);
    const timesByOwner = Map.groupBy(sent, ([webhook_id]) => webhook_id.split("/")[0] ?? "");
    const waits = parties.map(({ owner }) => {
      const times = (timesByOwner.get(owner) ?? []).flatMap(([, all]) => all);
      return longestWait(
        times.toSorted((a, b) => a - b),
        forMs,
      );
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(bound + SLOW_MS);
    expect(longestWait(sent.get(`${honest.owner}/0`), forMs)).toBeLessThanOrEqual(bound);
    expect(most).toBeLessThanOrEqual(LANES);
    expect(mostOfOwner).toBeLessThanOrEqual(4);
  },
);

test("H3: each of 20 webhooks of an owner has its turn although the first ones never answer", async () => {
  const { sent } = await runParties([{ owner: "busy", webhooks: 20, answerMs: 50 }], 20_000);
  const waits = [...sent.values()].map((times) => longestWait(times, 20_000));
  expect(waits).toHaveLength(20);
  expect(Math.max(...waits)).toBeLessThanOrEqual(6_000);
});

test("a webhook keeps its lane as long as no other webhook needs it", async () => {
  const { sent } = await runParties([{ owner: "one", webhooks: 1, answerMs: 50 }], 10_000);
  expect(longestWait(sent.get("one/0"), 10_000)).toBe(50);
});

test.each([
  [511, 1, false, true],
  [600, 1, true, true],
  [600, 1, false, false],
  [128, 5, false, true],
])(
  "after %i owners with %i webhooks, in a whole round %s, others may come before those that wait: %s",
  (owners, webhooks, isWhole, expected) => {
    const lanes = createWebhookLanes(silentLog, () => 0);
    const due = Array.from({ length: owners * webhooks }, (_, at) => ({
      webhook_id: `webhook-${at}`,
      owner: `owner-${at % owners}`,
    }));
    lanes.begin({ due, isWhole }, () => new Promise<void>(() => {}));
    expect(lanes.hasRoom()).toBe(expected);
  },
);
