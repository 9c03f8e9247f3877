import Sqlite from "better-sqlite3";
import { toDatabaseRefusal } from "../database/database-refusal.ts";
import type { CheckMessage } from "./check-message.ts";
import { checkFileTable, listFileTables } from "./check-tables.ts";

const BUSY_TIMEOUT_MS = 5_000;

/** Reads the whole file of a running relay, in a process of its own that the relay can kill. */
async function checkFile(path: string): Promise<CheckMessage> {
  const db = new Sqlite(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const tables = listFileTables(db);
    for (const [done, table] of tables.entries()) {
      await send({ type: "progress", done, of: tables.length });
      const checked = checkFileTable(db, path, table);
      if (!checked.ok) return { type: "refused", refusal: checked };
    }
    return { type: "passed" };
  } catch (error) {
    return { type: "refused", refusal: toDatabaseRefusal(error, path) };
  } finally {
    db.close();
  }
}

/** Fails when the relay has ended, so that no check outlives it by more than one table. */
function send(message: CheckMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) return reject(new Error("this script is started by a relay"));
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

await send(await checkFile(process.argv[2] ?? ""));
process.disconnect();
