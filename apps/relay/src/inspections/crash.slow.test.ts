import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  beginRealCase,
  createCallerOf,
  createRealParties,
  expectSettledOnce,
  realActs,
  waitUntilClosed,
} from "../../test/processes/inspection-process.ts";
import type { Case } from "../../test/inspections.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-inspection-crash-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  ...minimalEnv,
  AGENT_DB_PATH: join(folder, "relay.db"),
  AGENT_DISPUTE_WINDOW_MIN_MS: "100",
  AGENT_DISPUTE_ANSWER_MS: "1500",
  AGENT_DISPUTE_DECISION_MS: "1500",
};

test("IS8: every inspection closes by itself, and only once, after whichever act the relay is killed", async () => {
  let relay = startRelay(env);
  let caller = await createCallerOf(await relay.baseUrl);
  const parties = await createRealParties(caller, 1_500);
  const cases: Case[] = [];
  const steps = [[], ["reject"], ["reject", "contest"], ["reject", "contest", "decide"]] as const;
  for (const [index, before] of steps.entries()) {
    const given = await beginRealCase(caller, parties);
    cases.push(given);
    const last = before.at(-1);
    for (const act of before.slice(0, -1)) await realActs[act](caller, given);
    const sent =
      last === undefined ? undefined : realActs[last](caller, given).catch(() => undefined);
    // The relay is killed during the answer to every second act.
    if (index % 2 === 0) await sent;
    relay.kill("SIGKILL");
    await relay.ended;
    await sent;
    relay = startRelay(env);
    caller = await createCallerOf(await relay.baseUrl);
  }
  const closed = await waitUntilClosed(caller, cases);
  expect(closed.every(({ outcome }) => outcome !== null)).toBe(true);
  await expectSettledOnce(caller, parties, cases.length);
  relay.kill("SIGTERM");
  await relay.ended;
});

test("a relay with short windows ends each state by real time, over HTTP", async () => {
  const relay = startRelay({
    ...env,
    AGENT_DB_PATH: join(folder, "short.db"),
    AGENT_DISPUTE_ANSWER_MS: "3000",
  });
  const caller = await createCallerOf(await relay.baseUrl);
  expect(relay.stdout() + relay.stderr()).toContain("disputes.short_window");
  const parties = await createRealParties(caller, 3_000);
  const play = async (...names: (keyof typeof realActs)[]) => {
    const given = await beginRealCase(caller, parties);
    for (const name of names) expect((await realActs[name](caller, given)).status).toBe(200);
    return given;
  };
  const cases = await Promise.all([
    play(),
    play("reject"),
    play("reject", "contest"),
    play("reject", "contest", "decide"),
    play("accept"),
  ]);
  const closed = await waitUntilClosed(caller, cases);
  expect(closed.map(({ outcome }) => [outcome?.outcome, outcome?.share])).toEqual([
    ["lapsed", 1],
    ["unanswered", 0.5],
    ["undecided", 0.75],
    ["decided", 0.75],
    ["accepted", 1],
  ]);
  await expectSettledOnce(caller, parties, 5);
  relay.kill("SIGTERM");
  await relay.ended;
});

test(
  "IS1: 30 cases that are accepted, rejected and timed out at the same moment end with one settlement each",
  { timeout: 180_000 },
  async () => {
    const relay = startRelay({ ...env, AGENT_DB_PATH: join(folder, "races.db") });
    const caller = await createCallerOf(await relay.baseUrl);
    const parties = await createRealParties(caller, 2_000);
    const cases = await Promise.all(
      Array.from({ length: 30 }, () => beginRealCase(caller, parties)),
    );
    const deadlines = await Promise.all(
      cases.map(async ({ task }) => {
        const { body } = await caller.asOperator("GET", `${task.path}/inspection`);
        return Number(body["deadline"]);
      }),
    );
    const statuses = await Promise.all(
      cases.map(async (given, index) => {
        // The statements arrive within milliseconds of the end of the window.
        const delay = Math.max(0, deadlines[index]! - Date.now() - (index % 10));
        await new Promise((resolve) => setTimeout(resolve, delay));
        const statements = Array.from({ length: 6 }, (_, at) =>
          at % 2 === 0 ? realActs.accept(caller, given) : realActs.reject(caller, given),
        );
        return (await Promise.all(statements)).map(({ status }) => status);
      }),
    );
    expect(statuses.flat().filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const closed = await waitUntilClosed(caller, cases);
    for (const { outcome } of closed) {
      expect(["accepted", "lapsed", "unanswered"]).toContain(outcome?.outcome);
    }
    await expectSettledOnce(caller, parties, cases.length);
    relay.kill("SIGTERM");
    await relay.ended;
  },
);
