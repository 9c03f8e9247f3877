import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getServer, onlyOn } from "../engine/engine.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { createLoadAgents, listMissing, requestJson, runLoad, type LoadAgents } from "../load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { listenAsDevice } from "./listen-as-device.ts";
import { START_LOCK } from "../../src/storage/postgres/open-postgres.ts";
import { startNetworkProxy, type NetworkProxy } from "./network-proxy.ts";
import { startProbe, type ProbeAnswer } from "./probe-process.ts";

/** A statement without an answer ends after 15 s, and a new connection after 2 s. */
const MAX_ANSWER_MS = 20_000;
/** The server ends a transaction 5 s after it lost contact with the process. */
const MAX_TURN_MS = 8_000;

/** A process must also end if it cannot delete its rows. */
const MAX_END_MS = 30_000;

interface Fault {
  readonly begin: (proxy: NetworkProxy) => void;
  readonly end: (proxy: NetworkProxy) => void;
}

const silences: readonly (readonly [name: string, Fault])[] = [
  [
    "passes nothing in either direction and abandons its connections",
    {
      begin: (proxy) => proxy.silence("toServer", "toClient"),
      end: (proxy) => proxy.abandonConnections(),
    },
  ],
  [
    "loses what the process sends and delivers it late",
    { begin: (proxy) => proxy.silence("toServer"), end: (proxy) => proxy.restore() },
  ],
  [
    "loses the answers of the server and delivers them late",
    { begin: (proxy) => proxy.silence("toClient"), end: (proxy) => proxy.restore() },
  ],
];

const cut: Fault = { begin: (proxy) => proxy.cut(true), end: (proxy) => proxy.cut(false) };

describe.runIf(onlyOn("postgres"))("a network between a leader and its database", () => {
  let databaseUrl: string;
  let proxy: NetworkProxy;
  let near: RelayProcess;
  let far: RelayProcess;
  let load: LoadAgents;
  beforeEach(async () => {
    databaseUrl = await openDatabaseOf(randomUUID());
    proxy = await startNetworkProxy(getServer().serverUrl);
    far = await start(proxy.toUrl(databaseUrl));
    near = await start(databaseUrl);
    load = await createLoadAgents(await near.baseUrl);
  });
  afterEach(async () => {
    await endRelays();
    await proxy.close();
  });

  async function start(url: string): Promise<RelayProcess> {
    const relay = startRelay({ ...minimalEnv, AGENT_DATABASE_URL: url }, { isExact: true });
    await relay.baseUrl;
    return relay;
  }

  /** Returns the operating system's id of the process that holds the lease. */
  async function getLeader(): Promise<number> {
    const [row] = await runStatement(
      databaseUrl,
      `SELECT processes.name FROM leases JOIN processes ON process_id = holder
       WHERE leases.until > extract(epoch FROM clock_timestamp()) * 1000`,
    );
    return Number(String(row?.["name"]).split("-").at(-1));
  }

  const getReadiness = async (relay: RelayProcess) => {
    const answer = await requestJson(`${await relay.baseUrl}/health/ready`, OPERATOR_TOKEN);
    return `${answer.status} ${JSON.stringify(answer.body)}`;
  };

  const slowest = (answers: readonly ProbeAnswer[]) => Math.max(...answers.map(({ ms }) => ms));
  const statuses = (answers: readonly ProbeAnswer[]) =>
    new Set(answers.map(({ status }) => status));
  const deposits = (answers: readonly ProbeAnswer[], isAcknowledged: boolean) =>
    answers.filter(({ path, status }) => path === "deposit" && (status === 200) === isAcknowledged)
      .length;

  async function runFault({ begin, end }: Fault, whileFaulty: () => Promise<void>) {
    expect(await getLeader()).toBe(far.pid);
    const urls = [await far.baseUrl, await near.baseUrl] as const;
    let isOver = false;
    const isEnough = () => isOver;
    // A lane ends at its first unsuccessful answer.
    const lanes = urls.map(async (url) => {
      while (!isOver) {
        await runLoad(url, load, isEnough, 2);
        await sleep(100);
      }
    });
    const { agentId } = (await createLoadAgents(urls[1])).payer;
    const probes = urls.map((url) => startProbe(url, agentId));
    const [ofFar, ofNear] = probes as [(typeof probes)[0], (typeof probes)[0]];
    const count = () => load.acknowledged.receipts.size;
    const grow = async () => {
      const before = count();
      await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before + 20);
    };
    await grow();
    begin(proxy);
    await whileFaulty();
    end(proxy);
    await expect
      .poll(() => ofFar.answers().at(-1)?.status, { timeout: 30_000, interval: 50 })
      .toBe(200);
    await grow();
    isOver = true;
    const answers = { far: await ofFar.stop(), near: await ofNear.stop() };
    await Promise.all(lanes);
    for (const url of urls) expect(await listMissing(url, load)).toEqual([]);
    const balance = await requestJson(
      `${urls[1]}/api/v1/agents/${agentId}/balance`,
      OPERATOR_TOKEN,
    );
    const all = [...answers.far, ...answers.near];
    const known = deposits(all, true);
    expect(balance.body["balance"]).toBeGreaterThanOrEqual(known);
    expect(balance.body["balance"]).toBeLessThanOrEqual(known + deposits(all, false));
    return answers;
  }

  test("a network that is slow costs time and nothing else", async () => {
    const slow = {
      begin: (network: NetworkProxy) => network.delay(20),
      end: (network: NetworkProxy) => network.delay(0),
    };
    const answers = await runFault(slow, () => sleep(5_000));
    expect(statuses(answers.far)).toEqual(new Set([200]));
    expect(statuses(answers.near)).toEqual(new Set([200]));
    expect(await getLeader()).toBe(far.pid);
  });

  test("a network that ends connections loses nothing", async () => {
    const answers = await runFault(cut, async () => {
      await expect.poll(getLeader, { timeout: 20_000 }).toBe(near.pid);
      expect(await getReadiness(far)).toMatch(/^503/);
    });
    expect(statuses(answers.far)).toEqual(new Set([200, 503]));
    expect(statuses(answers.near)).toEqual(new Set([200]));
    expect(slowest(answers.far)).toBeLessThan(MAX_ANSWER_MS);
    expect(slowest(answers.near)).toBeLessThan(MAX_TURN_MS);
  });

  test.each(silences)("a network that %s loses nothing", async (_, fault) => {
    const device = listenAsDevice(load.payer, await far.baseUrl);
    await device.heard("ready");
    const answers = await runFault(fault, async () => {
      await expect.poll(getLeader, { timeout: 20_000 }).toBe(near.pid);
      expect(await getReadiness(far)).toMatch(/^503/);
      expect(await getReadiness(near)).toMatch(/^200.*leads/);
      // The device's process can no longer be notified of tasks for the device.
      await expect.poll(() => device.codes, { timeout: 5_000 }).toContain(1001);
    });
    await device.heard("ready", 2);
    device.socket.close();
    expect(statuses(answers.far)).toEqual(new Set([200, 503]));
    expect(statuses(answers.near)).toEqual(new Set([200]));
    expect(slowest(answers.far)).toBeLessThan(MAX_ANSWER_MS);
    expect(slowest(answers.near)).toBeLessThan(MAX_TURN_MS);
    expect(await getReadiness(far)).toMatch(/^200.*follows/);
  });

  test("a network that passes nothing does not keep a process from ending", async () => {
    const ofFar = startProbe(await far.baseUrl, load.payer.agentId);
    await expect.poll(() => ofFar.answers().length).toBeGreaterThan(10);
    proxy.silence("toServer", "toClient");
    await sleep(500);
    const asked = performance.now();
    far.kill("SIGTERM");
    await far.ended;
    expect(performance.now() - asked).toBeLessThan(MAX_END_MS);
    await ofFar.stop();
    expect(await getReadiness(near)).toMatch(/^200/);
  });

  test("a network that goes silent while a process starts does not keep others from starting", async () => {
    proxy.delay(100);
    const env = { ...minimalEnv, AGENT_DATABASE_URL: proxy.toUrl(databaseUrl) };
    const silent = startRelay(env, { isExact: true });
    // The server would end an idle transaction, so this waits until the one that took the lock is over.
    const holders = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND objid = $1 AND datname = current_database()
        AND state = 'idle'`;
    await expect
      .poll(() => runStatement(databaseUrl, holders, [START_LOCK]), { interval: 10 })
      .toHaveLength(1);
    proxy.silence("toServer", "toClient");
    const next = await start(databaseUrl);
    expect(await getReadiness(next)).toMatch(/^200/);
    silent.kill("SIGKILL");
  });
});
