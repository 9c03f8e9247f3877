/**
 * `node main.ts sqlite|postgres [operations] [seed] [processes]`: compares a relay's money with a model. Only
 * PostgreSQL allows several processes.
 */
import { createDatabase, startPostgres } from "@agent/test-postgres";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage, type OpenOptions } from "../../src/storage/open-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { systemRuntime } from "../processes/system-runtime.ts";
import { runMoneyModel } from "./run-money-model.ts";

const [engine = "", operations = "1000000", seed = "1", processes = "1"] = process.argv.slice(2);

async function open(options: Omit<OpenOptions, "migrations">): Promise<Storage> {
  const opened = await openStorage({ ...options, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  return opened.storage;
}

async function run(storages: readonly [Storage, ...Storage[]]): Promise<void> {
  const started = performance.now();
  try {
    const { outcomes } = await runMoneyModel(storages, {
      seed: Number(seed),
      operations: Number(operations),
      onProgress: (done) => process.stderr.write(`\r${done} operations`),
    });
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(
      `\n${engine}, seed ${seed}, processes: ${processes}: ${operations} operations in ${seconds} s, ` +
        `no difference: ${JSON.stringify(outcomes)}`,
    );
  } finally {
    for (const storage of storages) await storage.close();
  }
}

async function runOnPostgres(serverUrl: string): Promise<void> {
  const url = await createDatabase(serverUrl, "model");
  if (processes === "1") return run([await open({ url })]);
  const openProcess = () => open({ url, listenUrl: url, shared: systemRuntime });
  const first = await openProcess();
  const others = Array.from({ length: Number(processes) - 1 }, openProcess);
  await run([first, ...(await Promise.all(others))]);
}

if (engine === "sqlite" && processes === "1") {
  const folder = mkdtempSync(join(tmpdir(), "money-model-"));
  try {
    await run([await open({ path: join(folder, "relay.db") })]);
  } finally {
    rmSync(folder, { recursive: true });
  }
} else if (engine === "postgres") {
  const server = await startPostgres();
  try {
    await runOnPostgres(server.url);
  } finally {
    await server.stop();
  }
} else {
  console.error("name the engine: sqlite, which has one process, or postgres");
  process.exitCode = 1;
}
