import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, startPostgres, type PostgresServer } from "@agent/test-postgres";
import { printFigures, type Figure } from "../figures.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";
import { measureHalfLoad } from "./half-load.ts";
import { measureOffers, toLookedFigure, toNotifiedFigure } from "./offers.ts";
import { measureProcessKill } from "./process-kill.ts";
import { createGroup, listRatios, measureRates, printRates } from "./rates.ts";
import { measureServerKill } from "./server-kill.ts";
import { startStatementProxy } from "./statement-proxy.ts";
import { measureStatements } from "./statements.ts";

const OFFERS = 100;
/** Fewer offers, because without notifications each takes up to a second. */
const OFFERS_BY_LOOKS = 20;

/** Starts a process of a relay, which ends with the measurement. */
type Start = (
  env: Record<string, string>,
  options?: Parameters<typeof startRelay>[2],
) => Promise<RelaySide>;

interface Measurement {
  readonly server: PostgresServer;
  readonly start: Start;
  /** Calls a function at the end, after the processes that were started later have ended. */
  readonly atEnd: (close: () => Promise<void> | void) => void;
}

/**
 * Measures the processes of a relay on one PostgreSQL server: their rates, their delays, and the cost of a
 * kill. Each measurement has its own processes, which end before the next one begins.
 */
export async function benchmarkScaleOut(): Promise<void> {
  const server = await startPostgres({ durable: true });
  const figures: Figure[] = [];
  try {
    for (const measure of [
      measureProcesses,
      measureLooks,
      compareHalfLoads,
      countStatements,
      killProcesses,
      killServer,
    ]) {
      figures.push(...(await withProcesses(server, measure)));
    }
  } finally {
    await server.stop();
  }
  printFigures(figures);
}

async function withProcesses(
  server: PostgresServer,
  measure: (measurement: Measurement) => Promise<Figure[]>,
): Promise<Figure[]> {
  const closing: (() => Promise<void> | void)[] = [];
  const atEnd: Measurement["atEnd"] = (close) => void closing.unshift(close);
  const start: Start = async (env, options) => {
    const side = await startRelay(env, 1, options);
    atEnd(() => side.close());
    return side;
  };
  try {
    return await measure({ server, start, atEnd });
  } finally {
    for (const close of closing) await close();
  }
}

/** Compares two processes with one, and with two that share one payer, in alternation within one run. */
async function measureProcesses({ server, start }: Measurement): Promise<Figure[]> {
  const create = async (name: string) => ({
    AGENT_DATABASE_URL: await createDatabase(server.url, name),
  });
  const one = createGroup(await start(await create("one")));
  const spread = await create("two");
  const sides = [await start(spread), await start(spread)] as const;
  const shared = await create("payer");
  const first = await start(shared);
  const samePayer = createGroup(first, await start(shared, { enrolled: first.agents }));
  const groups = { one, two: createGroup(...sides), samePayer };
  await measureRates(groups, server.pid);
  printRates(groups);
  return [...listRatios(groups), toNotifiedFigure(await measureOffers(sides, OFFERS))];
}

async function measureLooks({ server, start }: Measurement): Promise<Figure[]> {
  const url = await createDatabase(server.url, "looks");
  const env = { AGENT_DATABASE_URL: url, AGENT_DATABASE_LISTEN_URL: "off" };
  const sides = [await start(env), await start(env)] as const;
  return [toLookedFigure(await measureOffers(sides, OFFERS_BY_LOOKS))];
}

async function compareHalfLoads({ server, start, atEnd }: Measurement): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  atEnd(() => rmSync(folder, { recursive: true }));
  const file = await start({ AGENT_DB_PATH: join(folder, "relay.db") });
  const url = await createDatabase(server.url, "half");
  return [await measureHalfLoad(file, await start({ AGENT_DATABASE_URL: url }))];
}

async function countStatements({ server, start, atEnd }: Measurement): Promise<Figure[]> {
  const proxy = await startStatementProxy(server.url);
  atEnd(() => proxy.close());
  const url = proxy.toUrl(await createDatabase(server.url, "statements"));
  return [await measureStatements(await start({ AGENT_DATABASE_URL: url }), proxy)];
}

async function killProcesses({ server, start }: Measurement): Promise<Figure[]> {
  const env = { AGENT_DATABASE_URL: await createDatabase(server.url, "kills") };
  return [await measureProcessKill((enrolled) => start(env, { enrolled }))];
}

async function killServer({ server, start }: Measurement): Promise<Figure[]> {
  const url = await createDatabase(server.url, "crash");
  const side = await start({ AGENT_DATABASE_URL: url }, { isQuiet: true });
  return [await measureServerKill(side, url)];
}
