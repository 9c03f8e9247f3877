import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import Sqlite from "better-sqlite3";
import { copyRows } from "../copy-rows.ts";
import { computeMedian, printFigures, type Figure } from "../figures.ts";
import { enrollPayers, startRelay, type RelaySide } from "../relay-side.ts";

const ROUNDS = 5;
const EDGES_PER_AGENT = 10;
/** More agents than the relay caches routes for, so that it must find the routes of each again. */
const ASKERS = 24;
const STOP_LIMITS = { floor: 20, goal: 5 };
const STOPS_SCRIPT = new URL("../report-stops.ts", import.meta.url).href;

interface Size {
  readonly agents: number;
  readonly requests: number;
  readonly limits: Pick<Figure, "floor" | "goal">;
}

const sizes: readonly Size[] = [
  { agents: 10_000, requests: 40, limits: { floor: 12, goal: 5 } },
  { agents: 100_000, requests: 6, limits: { floor: 300, goal: 100 } },
];

/**
 * Measures the CPU that a started relay uses per scored submission and per market query, both for one agent
 * that asks repeatedly and for agents that ask in turn, and the longest pause of its event loop during one
 * request.
 */
export async function benchmarkRankedRequests(): Promise<void> {
  for (const size of sizes) printFigures(await measure(size));
}

async function measure({ agents, requests, limits }: Size): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const stopsFile = join(folder, "stops");
  const env = { AGENT_DB_PATH: join(folder, "relay.db"), BENCH_STOPS_FILE: stopsFile };
  const first = await startRelay(env, 1);
  const askers = await enrollPayers(first.child.url, ASKERS);
  await first.close();
  multiplyWorkers(env.AGENT_DB_PATH, { ...first.agents, askers }, agents);
  const reporting = { ...env, NODE_OPTIONS: `--import=${STOPS_SCRIPT}` };
  const side = await startRelay(reporting, 1, { enrolled: first.agents });
  const figures: Figure[] = [];
  try {
    let turn = 0;
    const nextAsker = () => askers[(turn += 1) % ASKERS];
    const kinds = {
      "scored submission": () => side.submitOpenScored(),
      "market query": () => side.queryMarket(),
      "submission of agents in turn": () => side.submitOpenScored(nextAsker()),
      "query of agents in turn": () => side.queryMarket(nextAsker()),
    };
    for (const [name, request] of Object.entries(kinds)) {
      for (let i = 0; i < requests; i += 1) await request();
      const cpu: number[] = [];
      const stops: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = side.child.cpuSeconds();
        for (let i = 0; i < requests; i += 1) await request();
        cpu.push(((side.child.cpuSeconds() - before) * 1_000) / requests);
        await readLongestStop(side, stopsFile);
        await request();
        stops.push(await readLongestStop(side, stopsFile));
      }
      const bound = "max" as const;
      const among = `${name} among ${agents}`;
      figures.push(
        { name: `ms of CPU per ${among}`, value: computeMedian(cpu), bound, ...limits },
        {
          name: `ms of longest stop in ${among}`,
          value: computeMedian(stops),
          bound,
          ...STOP_LIMITS,
        },
      );
    }
  } finally {
    await side.close();
    rmSync(folder, { recursive: true });
  }
  return figures;
}

async function readLongestStop({ child }: RelaySide, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(child.pid, "SIGUSR2");
  for (;;) {
    await sleep(5);
    try {
      const text = readFileSync(file, "utf8");
      if (text !== "") return Number(text);
    } catch {
      // The server has not written it yet.
    }
  }
}

/** Copies the worker with different prices, and gives each copy and each paying agent trust in others. */
function multiplyWorkers(
  path: string,
  { submitter, worker, askers }: RelaySide["agents"] & { readonly askers: readonly TestAgent[] },
  count: number,
): void {
  const db = new Sqlite(path);
  // The copies are discarded afterwards, so they need not reach the disk.
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -1000000");
  const where = `agent_id = '${worker.agentId}'`;
  const agent_id =
    "printf('%08x-0000-7000-8000-%012x', n.value * 2654435761 % 4294967296, n.value)";
  const body = `json_set(t.body, '$.pricing[0].unit_cost', (1 + n.value * 7919 % 1000) / 1000.0)`;
  copyRows(
    db,
    [
      { table: "agents", where, changed: { agent_id, registered: "1" } },
      { table: "listings", where, changed: { agent_id, listing_id: agent_id, body } },
      { table: "agent_capabilities", where, changed: { agent_id } },
    ],
    count,
  );
  const ids = db.prepare("select agent_id from agent_capabilities").pluck().all() as string[];
  const random = createSeededRandom(7);
  const addEdge = db.prepare(
    `insert or ignore into trust_records (agent_id, remote_agent_id, trust_level, first_seen_at,
       last_seen_at, interaction_count, successful_tasks, failed_tasks, paid_tasks, avg_latency_ms)
     values (?, ?, ?, 0, 0, 5, 4, 1, 4, ?)`,
  );
  db.transaction(() => {
    for (const from of [...[submitter, ...askers].map(({ agentId }) => agentId), ...ids]) {
      for (let edge = 0; edge < EDGES_PER_AGENT; edge += 1) {
        const to = ids[random.below(ids.length)] ?? worker.agentId;
        if (from !== to) addEdge.run(from, to, 2 + random.below(3), random.next() * 5_000);
      }
    }
  })();
  db.close();
}
