import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, startPostgres } from "@agent/test-postgres";
import { computeMedian } from "../figures.ts";
import { measureRate } from "../load.ts";
import { startRelay } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 3;

/**
 * Measures paid delegations per second of a relay on PostgreSQL beside one on a SQLite file, taking
 * turns in one run. Both synchronise each commit. The figures depend on the disk, so no floor holds them.
 */
export async function benchmarkEngines(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const server = await startPostgres({ durable: true });
  const url = await createDatabase(server.url, "relay");
  const file = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const postgres = await startRelay({ AGENT_DATABASE_URL: url }, 1);
  const rates = { file: [] as number[], postgres: [] as number[] };
  try {
    // The first seconds of a relay compile its code.
    for (const side of [file, postgres]) await measureRate(3, side.delegateOnce);
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.file.push(await measureRate(SECONDS, file.delegateOnce));
      rates.postgres.push(await measureRate(SECONDS, postgres.delegateOnce));
    }
  } finally {
    await Promise.all([file.close(), postgres.close()]);
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  const ratios = rates.postgres.map((rate, round) => rate / (rates.file[round] ?? Number.NaN));
  console.log(
    `paid delegations a second, median of ${ROUNDS}: SQLite file ${computeMedian(rates.file).toFixed(0)}, ` +
      `PostgreSQL ${computeMedian(rates.postgres).toFixed(0)}`,
  );
  console.log(
    `PostgreSQL / SQLite file: ${computeMedian(ratios).toFixed(2)} ` +
      `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in the rounds)`,
  );
}
