/** `node main.ts sqlite|postgres [operations] [seed]`: compares the money of a relay with a model. */
import { createDatabase, startPostgres } from "@agent/test-postgres";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage, type DatabaseLocation } from "../../src/storage/open-storage.ts";
import { runMoneyModel } from "./run-money-model.ts";

const [engine = "", operations = "1000000", seed = "1"] = process.argv.slice(2);

async function run(location: DatabaseLocation): Promise<void> {
  const opened = await openStorage({ ...location, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const started = performance.now();
  try {
    const { outcomes } = await runMoneyModel(opened.storage, {
      seed: Number(seed),
      operations: Number(operations),
      onProgress: (done) => process.stderr.write(`\r${done} operations`),
    });
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(
      `\n${engine}, seed ${seed}: ${operations} operations in ${seconds} s, no difference: ${JSON.stringify(outcomes)}`,
    );
  } finally {
    await opened.storage.close();
  }
}

if (engine === "sqlite") {
  const folder = mkdtempSync(join(tmpdir(), "money-model-"));
  try {
    await run({ path: join(folder, "relay.db") });
  } finally {
    rmSync(folder, { recursive: true });
  }
} else if (engine === "postgres") {
  const server = await startPostgres();
  try {
    await run({ url: await createDatabase(server.url, "model") });
  } finally {
    await server.stop();
  }
} else {
  console.error("name the engine: sqlite or postgres");
  process.exitCode = 1;
}
