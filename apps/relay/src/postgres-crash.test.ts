import {
  createDatabase,
  runStatement,
  startPostgres,
  type PostgresServer,
} from "@agent/test-postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startCommitProxy, type CommitProxy } from "../test/engine/commit-proxy.ts";
import { onlyOn } from "../test/engine/engine.ts";
import { createLoadAgents, listMissing, requestJson, runLoad } from "../test/load.ts";
import { endRelays, minimalEnv, startRelay, type RelayProcess } from "../test/relay-process.ts";
import { OPERATOR_TOKEN } from "../test/test-relay.ts";

const KILLS = 20;
/** Acknowledged receipts between two kills. */
const WORK = 20;

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

let server: PostgresServer;
let proxy: CommitProxy;
let url: string;
beforeAll(async () => {
  if (!onlyOn("postgres")) return;
  // Its commits are durable, unlike those of the server of the run.
  server = await startPostgres({ durable: true });
  url = await createDatabase(server.url, "relay");
  proxy = await startCommitProxy(server.url);
});
afterAll(async () => {
  await endRelays();
  await proxy?.close();
  await server?.stop();
});

const start = (args: readonly string[] = []) =>
  startRelay({ ...minimalEnv, AGENT_DATABASE_URL: proxy.toUrl(url) }, { args, isExact: true });

/** Kills a process of the server, which then ends all others and recovers from its log. */
async function crashServer(): Promise<void> {
  const query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'agent-relay' LIMIT 1";
  const [row] = await runStatement(url, query);
  process.kill(Number(row?.["pid"]), "SIGKILL");
}

async function reconcile(): Promise<Record<string, unknown>> {
  const command = start(["reconcile"]);
  const { code } = await command.ended;
  expect([code, command.stderr()]).toEqual([0, ""]);
  return JSON.parse(command.stdout()) as Record<string, unknown>;
}

test.runIf(onlyOn("postgres"))(
  "MN13 loses nothing acknowledged when the relay, the server or the answer to a COMMIT is gone",
  async () => {
    let relay: RelayProcess = start();
    const load = await createLoadAgents(await relay.baseUrl);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { receipts } = load.acknowledged;
      const enough = receipts.size + WORK;
      const driven = runLoad(await relay.baseUrl, load, () => false);
      await vi.waitFor(() => expect(receipts.size).toBeGreaterThan(enough), { timeout: 60_000 });
      if (kill % 3 === 0) {
        relay.kill("SIGKILL");
        await relay.ended;
        relay = start();
      } else if (kill % 3 === 1) {
        await crashServer();
      } else {
        proxy.loseCommits(true);
      }
      // Each lane ends at its first answer that is no success.
      await driven;
      proxy.loseCommits(false);
      const baseUrl = await relay.baseUrl;
      const account = `${baseUrl}/api/v1/agents/${load.payer.agentId}/deposit`;
      await vi.waitFor(
        async () => {
          const { status } = await requestJson(account, OPERATOR_TOKEN, "POST", {
            amount: 10,
            reference: `after kill ${kill}`,
          });
          expect(status).toBe(200);
        },
        { timeout: 30_000, interval: 200 },
      );
      expect(await listMissing(baseUrl, load)).toEqual([]);
    }
    expect(proxy.countLost()).toBeGreaterThan(0);
    relay.kill("SIGTERM");
    expect(await relay.ended).toEqual({ code: 0, signal: null });
    expect(await reconcile()).toMatchObject({ consistent: true });
    const [sums] = await runStatement(
      url,
      `SELECT (SELECT sum(balance) FROM accounts) AS total,
         (SELECT count(*) FROM accounts AS a WHERE balance <> coalesce(
           (SELECT sum(amount) FROM postings AS p WHERE p.account = a.account), 0)) AS differing`,
    );
    expect(sums).toEqual({ total: 0, differing: 0 });
  },
);
