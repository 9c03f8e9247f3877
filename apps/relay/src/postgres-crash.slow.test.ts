import {
  createDatabase,
  runStatement,
  startPostgres,
  type PostgresServer,
} from "@agent/test-postgres";
import { startBalancer, type Balancer } from "@agent/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startCommitProxy, type CommitProxy } from "../test/engine/commit-proxy.ts";
import { onlyOn } from "../test/engine/engine.ts";
import { createLoadAgents, listMissing, requestUntilAnswered, runLoad } from "../test/load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../test/processes/relay-process.ts";
import { readStoredSums } from "../test/stored/stored-sums.ts";

/** `pnpm test:kills` kills 200 times. */
const KILLS = Number(process.env["AGENT_TEST_KILLS"] ?? 20);
/** The number of acknowledged receipts between two kills. */
const WORK = 20;

vi.setConfig({ testTimeout: 60_000 + 60_000 * KILLS, hookTimeout: 60_000 });

let server: PostgresServer;
let proxy: CommitProxy;
let balancer: Balancer;
let url: string;
/** The two processes of the relay that run, each with its address once it listens. */
const running = new Map<RelayProcess, string>();

beforeAll(async () => {
  if (!onlyOn("postgres")) return;
  // Its commits are durable, unlike those of the server of the run.
  server = await startPostgres({ durable: true });
  url = await createDatabase(server.url, "relay");
  proxy = await startCommitProxy(server.url);
  balancer = await startBalancer(() => [...running.values()]);
});
afterAll(async () => {
  await endRelays();
  await balancer?.close();
  await proxy?.close();
  await server?.stop();
});

const run = (args: readonly string[] = []) =>
  startRelay({ ...minimalEnv, AGENT_DATABASE_URL: proxy.toUrl(url) }, { args, isExact: true });

async function start(): Promise<void> {
  const relay = run();
  running.set(relay, await relay.baseUrl);
}

/** Kills the process that has run the longest. */
async function killOne(): Promise<void> {
  const [oldest] = running.keys();
  oldest?.kill("SIGKILL");
  if (oldest !== undefined) running.delete(oldest);
  await oldest?.ended;
}

async function restartOne(): Promise<void> {
  await killOne();
  await start();
}

async function restartBoth(): Promise<void> {
  await Promise.all([killOne(), killOne()]);
  await Promise.all([start(), start()]);
}

/** Kills a process of the server, which then ends all others and recovers from its log. */
async function crashServer(): Promise<void> {
  const query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'agent-relay' LIMIT 1";
  const [row] = await runStatement(url, query);
  process.kill(Number(row?.["pid"]), "SIGKILL");
}

async function loseCommit(): Promise<void> {
  const before = proxy.countLost();
  proxy.loseCommits(true);
  await expect.poll(() => proxy.countLost(), { timeout: 30_000 }).toBeGreaterThan(before);
  proxy.loseCommits(false);
}

const KINDS = [restartOne, crashServer, restartBoth, loseCommit];

async function reconcile(): Promise<Record<string, unknown>> {
  const command = run(["reconcile"]);
  const { code } = await command.ended;
  expect([code, command.stderr()]).toEqual([0, ""]);
  return JSON.parse(command.stdout()) as Record<string, unknown>;
}

/** Kills once in each way under load, and returns what was acknowledged meanwhile. */
async function killInEachWay(kinds: readonly (() => Promise<void>)[]) {
  const load = await createLoadAgents(balancer.url);
  const { acknowledged } = load;
  const { receipts } = acknowledged;
  let isOver = false;
  // A request that is not answered is sent again, mostly to the other process.
  const driven = runLoad(balancer.url, load, () => isOver, 16, requestUntilAnswered);
  const work = async () => {
    const enough = receipts.size + WORK;
    await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(enough);
  };
  for (const kill of kinds) {
    await work();
    await kill();
  }
  await work();
  isOver = true;
  await driven;
  expect(await listMissing(balancer.url, load)).toEqual([]);
  return acknowledged;
}

test.runIf(onlyOn("postgres"))(
  "MN13 nothing is lost or doubled when a process, the server or the answer to a COMMIT is lost",
  async () => {
    await Promise.all([start(), start()]);
    const sums = { tasks: 0, settlements: 0, deposits: 0 };
    for (let killed = 0; killed < KILLS; killed += KINDS.length) {
      const { tasks, receipts, deposits } = await killInEachWay(KINDS.slice(0, KILLS - killed));
      sums.tasks += tasks.length;
      sums.settlements += receipts.size;
      sums.deposits += deposits.length;
    }
    for (const relay of running.keys()) {
      relay.kill("SIGTERM");
      expect(await relay.ended).toEqual({ code: 0, signal: null });
    }
    expect(await reconcile()).toMatchObject({ consistent: true });
    // Each request was sent until it was answered, so exactly the acknowledged requests are stored.
    const exact = { ...sums, holds: 0, open: 0, total: 0, differing: 0 };
    expect(await readStoredSums(url)).toEqual(exact);
  },
);
