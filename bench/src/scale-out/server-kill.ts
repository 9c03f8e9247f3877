import { openConnection, runStatement } from "@agent/test-postgres";
import type { Figure } from "../figures.ts";
import { DEFAULT_IN_FLIGHT } from "../load.ts";
import type { RelaySide } from "../relay-side.ts";

const KILLS = 3;
const PAUSE_MS = 10;

/**
 * Kills a backend process of the server, which then closes all connections and recovers from its log, and
 * measures the seconds from the server's first answer until the relay accepts a task again.
 */
export async function measureServerKill(side: RelaySide, url: string): Promise<Figure> {
  const took: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    // Delegations since the last checkpoint, which the server must recover.
    await Promise.all(Array.from({ length: DEFAULT_IN_FLIGHT }, side.delegateOnce));
    const query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'agent-relay' LIMIT 1";
    const [row] = await runStatement(url, query);
    const ended = await openConnection(url);
    const cut = new Promise((resolve) => ended.once("error", resolve));
    process.kill(Number(row?.["pid"]), "SIGKILL");
    await cut;
    const [serverAt, relayAt] = await Promise.all([
      waitUntil(() => runStatement(url, "SELECT 1")),
      waitUntil(() => side.submitPaid()),
    ]);
    took.push(Math.max(0, relayAt - serverAt) / 1_000);
  }
  return {
    name: "PostgreSQL killed: its first answer to the next accepted task, s",
    value: Math.max(...took),
    floor: 3,
    goal: 1,
    bound: "max",
    rounds: took,
  };
}

/** Repeats an attempt until it succeeds, and returns that time. */
async function waitUntil(attempt: () => Promise<unknown>): Promise<number> {
  for (;;) {
    try {
      await attempt();
      return performance.now();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
