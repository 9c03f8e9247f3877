import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, startPostgres } from "@agent/test-postgres";
import { computeMedian, printFigures } from "../figures.ts";
import { MANY_IN_FLIGHT, measureRate, WARM_UP_SECONDS } from "../load.ts";
import { readTreeCpuSeconds } from "../process-tree.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";

const ROUNDS = 7;
const SECONDS = 3;

/** The figures of each round of one engine. */
interface EngineFigures {
  /** Paid delegations per second. */
  readonly rates: number[];
  /** Processor time of the relay and of the server per paid delegation, in microseconds. */
  readonly relayCpu: number[];
  readonly serverCpu: number[];
}

interface MeasuredEngine extends EngineFigures {
  readonly name: string;
  readonly side: RelaySide;
  /** The process id of the database server, if there is one. */
  readonly serverPid?: number;
}

/**
 * Compares paid delegations of a relay on PostgreSQL with one on a SQLite file, in alternation within one run.
 * Both synchronise each commit, so the ratio depends on the disk.
 */
export async function benchmarkEngines(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const server = await startPostgres({ durable: true });
  const url = await createDatabase(server.url, "relay");
  const file = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const postgres = await startRelay({ AGENT_DATABASE_URL: url }, 1);
  const engines: MeasuredEngine[] = [
    { name: "SQLite file", side: file, ...noFigures() },
    { name: "PostgreSQL", side: postgres, serverPid: server.pid, ...noFigures() },
  ];
  try {
    for (const { side } of engines)
      await measureRate(WARM_UP_SECONDS, side.delegateOnce, MANY_IN_FLIGHT);
    for (let round = 0; round < ROUNDS; round += 1) {
      // The order alternates, so that neither engine always runs second.
      for (const engine of round % 2 === 0 ? engines : engines.toReversed()) {
        await measureRound(engine);
      }
    }
  } finally {
    await Promise.all([file.close(), postgres.close()]);
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  printEngines(engines);
}

const noFigures = (): EngineFigures => ({ rates: [], relayCpu: [], serverCpu: [] });

async function measureRound(engine: MeasuredEngine): Promise<void> {
  const { side, serverPid } = engine;
  const readServer = () => (serverPid === undefined ? Number.NaN : readTreeCpuSeconds(serverPid));
  const before = { relay: side.child.cpuSeconds(), server: readServer() };
  const rate = await measureRate(SECONDS, side.delegateOnce, MANY_IN_FLIGHT);
  const count = rate * SECONDS;
  engine.rates.push(rate);
  engine.relayCpu.push(((side.child.cpuSeconds() - before.relay) / count) * 1e6);
  engine.serverCpu.push(((readServer() - before.server) / count) * 1e6);
}

function printEngines(engines: readonly MeasuredEngine[]): void {
  const columns = ["paid delegations a second", "CPU of the relay, us each", "of the server"];
  console.log(
    `median of ${ROUNDS} rounds (least to most)`.padEnd(40) +
      columns.map((column) => column.padStart(30)).join(""),
  );
  for (const { name, rates, relayCpu, serverCpu } of engines) {
    const cells = [rates, relayCpu, serverCpu].map((values) => formatSpread(values).padStart(30));
    console.log(name.padEnd(40) + cells.join(""));
  }
  const [file, postgres] = engines;
  const ratios = (postgres?.rates ?? []).map((rate, round) => rate / (file?.rates[round] ?? 0));
  printFigures([
    {
      name: `PostgreSQL / SQLite file, ${MANY_IN_FLIGHT} in flight`,
      value: computeMedian(ratios),
      floor: 0.6,
      goal: 0.9,
      rounds: ratios,
    },
  ]);
}

function formatSpread(values: readonly number[]): string {
  if (values.some(Number.isNaN)) return "-";
  const [median, least, most] = [
    computeMedian(values),
    Math.min(...values),
    Math.max(...values),
  ].map((value) => value.toFixed(0));
  return `${median} (${least} to ${most})`;
}
