import { ensureDatabase } from "./databases.ts";

const [serverUrl = "", name = "", template = ""] = process.argv.slice(2);
await ensureDatabase(serverUrl, name, template);
