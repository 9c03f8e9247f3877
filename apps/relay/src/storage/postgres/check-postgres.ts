import { Client } from "pg";
import type { FileCheck } from "../check/file-check.ts";
import { describePlace, toClientConfig } from "./connection-settings.ts";
import { toPostgresRefusal } from "./postgres-refusal.ts";

/** Opens a connection for statements that read whole tables, longer than a request allows. */
export function createSlowClient(url: string): Client {
  const client = new Client({ ...toClientConfig(url), statement_timeout: 0, query_timeout: 0 });
  // The running statement reports it; without a listener it would end the process.
  client.on("error", () => {});
  return client;
}

/**
 * Reads each page of each table, so that the server compares the page's header, and its checksum if the
 * cluster has checksums. Damage is an error of the statement.
 */
export async function readAllTables(
  client: Client,
  onProgress: (done: number, of: number) => void = () => {},
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
  );
  for (const [done, { name }] of rows.entries()) {
    onProgress(done, rows.length);
    await client.query(`SELECT count(*) FROM ${name} AS stored WHERE stored IS NOT NULL`);
  }
}

/** Checks the database behind the running relay on a connection of its own. */
export function createPostgresCheck(url: string): FileCheck {
  const name = describePlace(url);
  let client: Client | undefined;
  let isStopped = false;
  let isDamaged = false;

  return {
    async run(onProgress) {
      if (isStopped) return undefined;
      client = createSlowClient(url);
      try {
        await client.connect();
        await readAllTables(client, onProgress);
        return { ok: true };
      } catch (error) {
        if (isStopped) return undefined;
        const refusal = toPostgresRefusal(error, name);
        isDamaged = refusal.code === "database.damaged";
        return refusal;
      } finally {
        await client.end();
      }
    },
    async stop() {
      isStopped = true;
      // Ends the running statement as well.
      await client?.end();
    },
    isDamaged: () => isDamaged,
  };
}
