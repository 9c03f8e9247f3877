import {
  createDatabase,
  requireReplica,
  runStatement,
  startPostgres,
  startReplica,
  toDatabaseUrl,
  type PostgresServer,
} from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startCommitProxy, type CommitProxy } from "../engine/commit-proxy.ts";
import { onlyOn } from "../engine/engine.ts";
import {
  createLoadAgents,
  listMissing,
  requestJson,
  requestUntilAnswered,
  runLoad,
} from "../load.ts";
import {
  endRelays,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../processes/relay-process.ts";
import { readStoredSums } from "../stored/stored-sums.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";

const DATABASE = "relay";

let primary: PostgresServer;
let replica: PostgresServer;
/** The only address that the relays know, like the virtual address of a pair of servers. */
let proxy: CommitProxy;

const start = (args: readonly string[] = []): RelayProcess => {
  const env = { ...minimalEnv, AGENT_DATABASE_URL: proxy.toUrl(urlOf(primary)) };
  return startRelay(env, { args, isExact: true });
};

const urlOf = (server: PostgresServer) => toDatabaseUrl(server.url, DATABASE);

/** Kills the primary with all its processes, and promotes the replica to replace it. */
async function failOver(): Promise<void> {
  process.kill(primary.pid, "SIGKILL");
  await primary.stop();
  await runStatement(replica.url, "SELECT pg_promote()");
  proxy.pointAt(replica.url);
}

async function runCommand(name: string): Promise<string> {
  const command = start([name]);
  const { code } = await command.ended;
  expect([code, command.stderr()]).toEqual([0, ""]);
  return command.stdout();
}

/** Stops the replication from the primary, as if the replica's network were cut. */
async function detachReplica(): Promise<void> {
  await runStatement(replica.url, "ALTER SYSTEM SET primary_conninfo = ''");
  await runStatement(replica.url, "SELECT pg_reload_conf()");
  const followers = "SELECT 1 FROM pg_stat_replication";
  await expect.poll(() => runStatement(primary.url, followers)).toEqual([]);
}

async function listDeposits(agentId: string): Promise<unknown[]> {
  const query = "SELECT reference_id FROM postings WHERE account = $1 ORDER BY created_at";
  const rows = await runStatement(urlOf(replica), query, [`agent:${agentId}`]);
  return rows.map((row) => row["reference_id"]);
}

/** Deposits 1 and resolves once the deposit is acknowledged. */
function deposit(baseUrl: string, agentId: string, reference: string) {
  const account = `${baseUrl}/api/v1/agents/${agentId}/deposit`;
  return requestUntilAnswered(account, OPERATOR_TOKEN, "POST", { amount: 1, reference });
}

describe.runIf(onlyOn("postgres"))("two relays on a server with a replica", () => {
  beforeEach(async () => {
    primary = await startPostgres({ durable: true });
    replica = await startReplica(primary);
    await createDatabase(primary.url, DATABASE);
    proxy = await startCommitProxy(primary.url);
  });
  afterEach(async () => {
    await endRelays();
    await proxy.close();
    await Promise.all([primary.stop(), replica.stop()]);
  });

  test("two relays lose and double nothing when a synchronous replica is promoted under load", async () => {
    await requireReplica(primary.url);
    const relays = [start(), start()];
    const urls = await Promise.all(relays.map(({ baseUrl }) => baseUrl));
    const load = await createLoadAgents(urls[0] ?? "");
    const { acknowledged } = load;
    const { receipts } = acknowledged;
    let isOver = false;
    const work = urls.map((url) => runLoad(url, load, () => isOver, 8, requestUntilAnswered));
    await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(100);

    await failOver();
    const before = receipts.size;
    await expect.poll(() => receipts.size, { timeout: 60_000 }).toBeGreaterThan(before + 100);
    isOver = true;
    await Promise.all(work);

    for (const url of urls) expect(await listMissing(url, load)).toEqual([]);
    for (const relay of relays) {
      relay.kill("SIGTERM");
      expect(await relay.ended).toEqual({ code: 0, signal: null });
    }
    expect(JSON.parse(await runCommand("reconcile"))).toMatchObject({ consistent: true });
    // Each request was repeated until it was answered, so exactly the acknowledged work is stored.
    expect(await readStoredSums(urlOf(replica))).toEqual({
      tasks: acknowledged.tasks.length,
      settlements: receipts.size,
      deposits: acknowledged.deposits.length,
      holds: 0,
      open: 0,
      total: 0,
      differing: 0,
    });
  });

  test("two relays acknowledge nothing that a synchronous replica has not stored", async () => {
    await requireReplica(primary.url);
    const url = await start().baseUrl;
    const { payer } = await createLoadAgents(url);
    expect(await deposit(url, payer.agentId, "stored")).toMatchObject({ status: 200 });
    await detachReplica();
    const account = `${url}/api/v1/agents/${payer.agentId}/deposit`;
    const body = { amount: 1, reference: "not stored" };
    for (let sent = 0; sent < 2; sent += 1) {
      const refused = await requestJson(account, OPERATOR_TOKEN, "POST", body);
      expect(refused).toMatchObject({ status: 503, body: { code: "server.unavailable" } });
    }
    await failOver();
    expect(await listDeposits(payer.agentId)).toEqual(["stored"]);
    expect(await deposit(url, payer.agentId, "not stored")).toMatchObject({ status: 200 });
    expect(await listDeposits(payer.agentId)).toEqual(["stored", "not stored"]);
  });

  test("two relays miss what an asynchronous replica had not received, until the operator says that they may", async () => {
    const relay = start();
    const url = await relay.baseUrl;
    const { payer } = await createLoadAgents(url);
    expect(await deposit(url, payer.agentId, "received")).toMatchObject({ status: 200 });
    const waiting = "SELECT pg_last_wal_replay_lsn() < $1::pg_lsn AS waits";
    const [written] = await runStatement(primary.url, "SELECT pg_current_wal_lsn() AS lsn");
    await expect
      .poll(() => runStatement(replica.url, waiting, [written?.["lsn"]]))
      .toEqual([{ waits: false }]);
    // A detached replica corresponds to one that lags far behind.
    await detachReplica();
    expect(await deposit(url, payer.agentId, "not received")).toMatchObject({ status: 200 });

    await failOver();
    expect(await deposit(url, payer.agentId, "after")).toMatchObject({ status: 200 });
    expect(await listDeposits(payer.agentId)).toEqual(["received", "after"]);
    const books = `${url}/api/v1/admin/reconciliation`;
    expect((await requestJson(books, OPERATOR_TOKEN)).body).toMatchObject({ consistent: true });

    relay.kill("SIGTERM");
    expect(await relay.ended).toEqual({ code: 0, signal: null });
    expect(await runCommand("restored")).toContain("incarnation");
    const again = await start().baseUrl;
    const account = `${again}/api/v1/agents/${payer.agentId}/deposit`;
    const pay = () =>
      requestJson(account, OPERATOR_TOKEN, "POST", { amount: 1, reference: "not received" });
    expect(await pay()).toMatchObject({ status: 503, body: { code: "server.frozen" } });
    const unfreeze = `${again}/api/v1/admin/unfreeze`;
    const thawed = await requestJson(unfreeze, OPERATOR_TOKEN, "POST", { restored: true });
    expect(thawed).toMatchObject({ status: 200 });
    expect(await pay()).toMatchObject({ status: 200 });
  });
});
