import { randomUUID } from "node:crypto";
import { buildSchema } from "../../src/storage/database/build-schema.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage, type OpenOptions } from "../../src/storage/open-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openSqliteMemory } from "../../src/storage/database/sqlite-memory.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { engine } from "../engine/engine.ts";
import { countWork } from "../engine/pending-work.ts";
import { acquireDatabase, releaseDatabase } from "../engine/spare-databases.ts";

/**
 * Opens storage as the relay does, on the engine of the run. In memory it is a copy, because migrations are the
 * largest part of a start. On Postgres, a database replaces the file.
 */
export const openMigrated: typeof openStorage = async (options) => {
  const isShort = options.path === undefined || options.path === ":memory:";
  if (engine === "postgres") {
    return isShort ? openUnnamed(options) : openNamed(options, String(options.path));
  }
  if (!isShort) return openStorage(options);
  return openSqliteMemory(options.migrations, buildSchema(options.migrations).image);
};

async function openNamed(options: OpenOptions, path: string) {
  const template = options.migrations === migrations ? undefined : "template1";
  const url = await openDatabaseOf(path, template);
  const opened = await openCounted({ ...options, path: undefined, url });
  if (opened.ok) urls.set(opened.storage, url);
  return opened;
}

/** The database address of each open storage on Postgres. */
const urls = new WeakMap<Storage, string>();

async function openCounted(options: OpenOptions) {
  // A process that is alone on its database does not connect for notifications.
  const opened = await openStorage({ ...options, listenUrl: options.url });
  return opened.ok ? { ...opened, storage: countWork(opened.storage) } : opened;
}

/** Returns a function that opens the database of a storage for another process of the same relay. */
export function openBeside(storage: Storage): typeof openStorage {
  const url = urls.get(storage);
  // Without an address the second process would have its own database, and therefore its own identity.
  if (url === undefined) throw new Error("the storage has no address");
  return (options) => openCounted({ ...options, path: undefined, url });
}

/** Opens a database that is reused for another relay once this one has closed it. */
async function openUnnamed(options: OpenOptions) {
  if (options.migrations !== migrations) return openNamed(options, randomUUID());
  const url = await acquireDatabase();
  const opened = await openCounted({ ...options, path: undefined, url });
  if (!opened.ok) return opened;
  const { storage } = opened;
  let isReleased = false;
  const close = async () => {
    await storage.close();
    if (!isReleased) releaseDatabase(url);
    isReleased = true;
  };
  const own: Storage = { ...storage, close };
  urls.set(own, url);
  return { ...opened, storage: own };
}
