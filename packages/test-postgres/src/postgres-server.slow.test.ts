import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, dropDatabase, runStatement } from "./databases.ts";
import { startPostgres, startReplica, type PostgresServer } from "./postgres-server.ts";
import { requireReplica } from "./require-replica.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a running server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("a running server sorts texts as a language does, unless their column says otherwise", async () => {
    const rows = (collation: string) =>
      runStatement(
        server.url,
        `SELECT string_agg(v, '' ORDER BY v ${collation}) AS sorted FROM unnest(ARRAY['b','B','a','_']) v`,
      );
    expect(await rows("")).toEqual([{ sorted: "_abB" }]);
    expect(await rows('COLLATE "C"')).toEqual([{ sorted: "B_ab" }]);
  });

  test("a database is copied with its rows", async () => {
    const first = await createDatabase(server.url, "first");
    await runStatement(first, "CREATE TABLE kept AS SELECT 7 AS number");
    const second = await createDatabase(server.url, "second", "first");
    expect(await runStatement(second, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
    await dropDatabase(server.url, "second");
    await expect(runStatement(second, "SELECT 1")).rejects.toThrow("does not exist");
  });
});

test("a stopped server leaves no process and no folder", async () => {
  const server = await startPostgres();
  expect([isAlive(server.pid), existsSync(server.folder)]).toEqual([true, true]);
  await server.stop();
  expect([isAlive(server.pid), existsSync(server.folder)]).toEqual([false, false]);
});

test("a promoted replica has what its primary stored before it was killed", async () => {
  const primary = await startPostgres({ durable: true });
  const replica = await startReplica(primary);
  try {
    await requireReplica(primary.url);
    await runStatement(primary.url, "CREATE TABLE kept AS SELECT 7 AS number");
    await expect(runStatement(replica.url, "CREATE TABLE refused ()")).rejects.toThrow("read-only");
    process.kill(primary.pid, "SIGKILL");
    await runStatement(replica.url, "SELECT pg_promote()");
    expect(await runStatement(replica.url, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
    await runStatement(replica.url, "INSERT INTO kept VALUES (8)");
  } finally {
    await Promise.all([primary.stop(), replica.stop()]);
  }
  expect([existsSync(primary.folder), existsSync(replica.folder)]).toEqual([false, false]);
});

test("a server ends with the process that started it, also after kill -9", async () => {
  const program = `
    import { startPostgres } from ${JSON.stringify(new URL("postgres-server.ts", import.meta.url))};
    const { pid, folder } = await startPostgres();
    console.log(JSON.stringify({ pid, folder }));
    setInterval(() => {}, 1_000);`;
  const args = ["--conditions=agent-source", "--input-type=module", "-e", program];
  const owner = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: owner.stdout }), "line")) as string[];
  const { pid, folder } = JSON.parse(String(line)) as { pid: number; folder: string };
  expect(isAlive(pid)).toBe(true);
  owner.kill("SIGKILL");
  await expect
    .poll(() => [isAlive(pid), existsSync(folder)], { timeout: 10_000 })
    .toEqual([false, false]);
});
