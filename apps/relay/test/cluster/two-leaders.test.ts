import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createMonitor, type MonitorAlarm, type MonitorState } from "@agent/client";
import { createToken } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import { parseVerifierKey } from "@agent/transparency";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { onlyOn } from "../engine/engine.ts";
import { createLoadAgents, listMissing, requestJson, runLoad, type LoadAgents } from "../load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { startMember, type Member } from "./start-cluster.ts";
import { startHook, type Hook } from "./start-hook.ts";

const EXPIRING = 150;

let databaseUrl: string;
let hook: Hook;
beforeEach(async () => {
  databaseUrl = await openDatabaseOf(randomUUID());
  hook = await startHook();
});
afterEach(async () => {
  await endRelays();
  await hook.close();
});

const query = (text: string, values?: readonly unknown[]) =>
  runStatement(databaseUrl, text, values === undefined ? undefined : [...values]);

async function start(): Promise<RelayProcess> {
  const env = {
    ...minimalEnv,
    AGENT_DATABASE_URL: databaseUrl,
    AGENT_PRIVATE_ENDPOINTS: "allow",
    AGENT_LOG_INTERVAL_MS: "50",
  };
  const relay = startRelay(env, { isExact: true });
  await relay.baseUrl;
  return relay;
}

/** Returns the fence of the lease and the system's process id of the holder. */
async function findLeader(): Promise<{ readonly pid: number; readonly fence: number }> {
  const [row] = await query(
    `SELECT processes.name, fence FROM leases LEFT JOIN processes ON process_id = holder
     WHERE leases.until > extract(epoch FROM clock_timestamp()) * 1000`,
  );
  return { pid: Number(String(row?.["name"]).split("-").at(-1)), fence: Number(row?.["fence"]) };
}

async function submitExpiring(url: string, { worker, payer, did }: LoadAgents): Promise<string[]> {
  const token = await createToken(payer, did, { now: Date.now, randomBytes: bytes });
  const path = `${url}/agent/${worker.agentId}/task`;
  const submitted = await Promise.all(
    Array.from({ length: EXPIRING }, () => requestJson(path, token, "POST", { prompt: "expires" })),
  );
  expect(new Set(submitted.map(({ status }) => status))).toEqual(new Set([201]));
  return submitted.map(({ body }) => String(body["task_id"]));
}

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

async function countPending(taskIds: readonly string[]): Promise<number> {
  return (await query("SELECT 1 FROM tasks WHERE task_id = ANY($1)", [taskIds])).length;
}

describe.runIf(onlyOn("postgres"))("a leader that stood still while another one led", () => {
  test(
    "a leader that stood still repeats no effect of a job, wherever it stood",
    { timeout: 300_000 },
    async () => {
      const processes = [await start(), await start()] as const;
      const urls = await Promise.all(processes.map(({ baseUrl }) => baseUrl));
      const load = await createLoadAgents(urls[0] ?? "");
      const idle = await createLoadAgents(urls[0] ?? "");
      const account = `${urls[0]}/api/v1/agents/${idle.payer.agentId}/deposit`;
      await requestJson(account, OPERATOR_TOKEN, "POST", { amount: 2 * EXPIRING });
      // Subscribed at the process that gets the first load, because the other one learns of it a little later.
      await hook.subscribe(urls[1] ?? "", load);
      const alarms: MonitorAlarm[] = [];
      const check = await createLogCheck(urls, alarms);
      let fence = 1;
      const expired: string[] = [];
      for (const stopped of [0, 1, 0]) {
        const [victim, other] = [processes[stopped], processes[1 - stopped]] as [
          RelayProcess,
          RelayProcess,
        ];
        const otherUrl = await other.baseUrl;
        expect(await findLeader()).toEqual({ pid: victim.pid, fence });
        let isOver = false;
        const work = runLoad(otherUrl, load, () => isOver, 2);
        const taskIds = await submitExpiring(otherUrl, idle);
        expired.push(...taskIds);
        await check(1 - stopped);
        await query("UPDATE tasks SET expires_at = submitted_at WHERE task_id = ANY($1)", [
          taskIds,
        ]);
        // The process is stopped while it expires the tasks one transaction after another.
        await expect.poll(() => countPending(taskIds), { interval: 5 }).toBeLessThan(EXPIRING);
        victim.kill("SIGSTOP");
        fence += 1;
        await expect.poll(findLeader, { timeout: 30_000 }).toEqual({ pid: other.pid, fence });
        await check(1 - stopped);
        victim.kill("SIGCONT");
        await expect.poll(() => countPending(taskIds), { timeout: 30_000 }).toBe(0);
        await sleep(4_000);
        isOver = true;
        await work;
        expect(await findLeader()).toEqual({ pid: other.pid, fence });
        await check(stopped);
      }
      for (const url of urls) expect(await listMissing(url, load)).toEqual([]);
      expect(alarms).toEqual([]);
      const releases = await query(
        `SELECT reference_id, count(*) AS count FROM postings
       WHERE type = 'allocation_release' AND reference_id = ANY($1) AND amount > 0
       GROUP BY reference_id`,
        [expired],
      );
      expect(releases).toHaveLength(expired.length);
      expect(releases.filter(({ count }) => count !== 1)).toEqual([]);
      await expect
        .poll(() => hook.ids("task.completed").size, { timeout: 60_000 })
        .toBe(load.acknowledged.receipts.size);
      expect([...hook.ids("task.completed").values()].filter((ids) => ids.size !== 1)).toEqual([]);
    },
  );
});

describe.runIf(onlyOn("postgres"))("a leader whose clock stands still", () => {
  let isPaused = false;
  let member: Member;
  beforeEach(async () => {
    isPaused = false;
    const env = { AGENT_LOG_INTERVAL_MS: "50" };
    member = await startMember(databaseUrl, env, { isPaused: () => isPaused });
  });
  afterEach(() => member.stop());

  test("a leader does nothing for all once another process leads, although it believes to lead", async () => {
    const load = await createLoadAgents(member.url);
    const account = `${member.url}/api/v1/agents/${load.payer.agentId}/deposit`;
    await requestJson(account, OPERATOR_TOKEN, "POST", { amount: 2 * EXPIRING });
    const taskIds = await submitExpiring(member.url, load);
    isPaused = true;
    await query(
      `UPDATE leases SET holder = 'another', fence = fence + 1,
         until = extract(epoch FROM clock_timestamp()) * 1000 + 60000`,
    );
    await query("UPDATE tasks SET expires_at = submitted_at WHERE task_id = ANY($1)", [taskIds]);
    const before = await countHeads();
    await runLoad(member.url, load, ({ receipts }) => receipts.size > 3);
    await sleep(3_000);
    const ready = await requestJson(`${member.url}/health/ready`, OPERATOR_TOKEN);
    expect(JSON.stringify(ready.body)).toContain("leads");
    expect(await countPending(taskIds)).toBe(EXPIRING);
    expect(await countHeads()).toBe(before);
    expect(await query("SELECT 1 FROM event_queue")).not.toEqual([]);

    await query("UPDATE leases SET until = 0");
    isPaused = false;
    await expect.poll(() => countPending(taskIds), { timeout: 20_000 }).toBe(0);
    await expect.poll(() => query("SELECT 1 FROM event_queue")).toEqual([]);
    expect(await countHeads()).toBeGreaterThan(before);
  });
});

const countHeads = async () => (await query("SELECT 1 FROM log_heads")).length;

/** Returns a function that checks, through one of the processes, that the log only grows. */
async function createLogCheck(urls: readonly string[], alarms: MonitorAlarm[]) {
  const identity = await requestJson(`${urls[0]}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  const parsed = parseVerifierKey((identity.body["log"] as { vkey: string }).vkey);
  if (!parsed.ok) throw new Error("the relay names no key of its log");
  let stored: MonitorState | null = null;
  const monitors = urls.map((url) =>
    createMonitor({
      prefix: `${url}/log/v1`,
      logKey: parsed.key,
      watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs: [] },
      state: {
        load: () => Promise.resolve(stored),
        save: async (state) => void (stored = state),
      },
      report: (reported) => void alarms.push(...reported),
    }),
  );
  return async (at: number) => expect(await monitors[at]?.check()).toMatchObject({ ok: true });
}
