import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";

/** Migrates the database of the first argument: `node migrate-database.ts URL`. */
const [url = ""] = process.argv.slice(2);
const opened = await openStorage({ url, migrations });
if (!opened.ok) throw new Error(`${opened.code}: ${opened.detail}`);
await opened.storage.close();
