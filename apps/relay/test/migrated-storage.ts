import Sqlite from "better-sqlite3";
import { migrate } from "../src/storage/database/migrate.ts";
import { migrations } from "../src/storage/migrations/index.ts";
import { openStorage } from "../src/storage/open-storage.ts";
import { openSqliteMemory } from "../src/storage/database/sqlite-memory.ts";

/**
 * Opens storage as the relay does; in memory a copy, because migrations are most of the start's
 * cost.
 */
export const openMigrated: typeof openStorage = async (options) =>
  options.path === undefined || options.path === ":memory:"
    ? openSqliteMemory(options.migrations, image)
    : openStorage(options);

const image = createImage();

function createImage(): Buffer {
  const db = new Sqlite(":memory:");
  migrate(db, migrations);
  const bytes = db.serialize();
  db.close();
  return bytes;
}
