import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { copyRows } from "../copy-rows.ts";
import { computePercentile99, printFigures } from "../figures.ts";
import { MASTER_TOKEN, startRelay } from "../relay-side.ts";

const SMALL_COUNT = 1_000;
const LARGE_COUNT = 1_000_000;
const REQUEST_COUNT = 300;

const queries = {
  discovery: "/api/v1/agents/discover?capability=x&limit=50",
  "market candidates": "/api/v1/market/candidates?capability=x&limit=10",
};

/** Measures the slowest queries among 1,000 agents that all match, and among many more agents. */
export async function benchmarkDiscovery(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const paths = { few: join(folder, "few.db"), many: join(folder, "many.db") };
  await (await startRelay({ AGENT_DB_PATH: paths.few }, 1)).close();
  copyFileSync(paths.few, paths.many);
  multiplyAgents(paths.few, SMALL_COUNT);
  multiplyAgents(paths.many, LARGE_COUNT);
  const sides = {
    few: await startRelay({ AGENT_DB_PATH: paths.few }, 1),
    many: await startRelay({ AGENT_DB_PATH: paths.many }, 1),
  };
  const timed = async (side: keyof typeof sides, path: string) => {
    const start = performance.now();
    const answer = await fetch(`${sides[side].child.url}${path}`, {
      headers: { authorization: `Bearer ${MASTER_TOKEN}` },
    });
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body}`);
    return performance.now() - start;
  };
  try {
    const figures = [];
    for (const [name, path] of Object.entries(queries)) {
      const times = { few: [] as number[], many: [] as number[] };
      for (let i = 0; i < REQUEST_COUNT; i += 1) {
        times.few.push(await timed("few", path));
        times.many.push(await timed("many", path));
      }
      const slow = { few: computePercentile99(times.few), many: computePercentile99(times.many) };
      console.log(
        `${name}: p99 ${slow.few.toFixed(1)} ms, among ${LARGE_COUNT} ${slow.many.toFixed(1)} ms`,
      );
      figures.push({
        name: `p99 of ${name} with ${LARGE_COUNT} agents / with ${SMALL_COUNT}`,
        value: slow.many / slow.few,
        floor: 3,
        goal: 1.5,
        bound: "max" as const,
      });
    }
    printFigures(figures);
  } finally {
    await Promise.all([sides.few.close(), sides.many.close()]);
    rmSync(folder, { recursive: true });
  }
}

/** Copies the only agent with a listing; only the first 1,000 copies offer the same capability. */
function multiplyAgents(path: string, count: number): void {
  const db = new Sqlite(path);
  // The copies are discarded afterwards, so they need not reach the disk.
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -1000000");
  const listed = db.prepare("select agent_id from listings").pluck().get() as string;
  const where = `agent_id = '${listed}'`;
  // Spread across all ids, so that neighbouring agents offer different capabilities.
  const agent_id =
    "printf('%08x-0000-7000-8000-%012x', n.value * 2654435761 % 4294967296, n.value)";
  const capability = `iif(n.value < ${SMALL_COUNT}, t.capability, 'c' || n.value % 1000)`;
  const tables = [
    { table: "agents", where, changed: { agent_id, registered: "1" } },
    { table: "listings", where, changed: { agent_id, listing_id: agent_id } },
    { table: "agent_capabilities", where, changed: { agent_id, capability } },
  ];
  copyRows(db, tables, count);
  db.close();
}
