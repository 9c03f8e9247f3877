import { createHash, randomUUID } from "node:crypto";
import { ensureDatabase, ensureDatabaseSync, toDatabaseUrl } from "@agent/test-postgres";
import { engine, getServer } from "./engine.ts";

/** Returns the name of the database that replaces a file; each run uses its own names. */
function nameOf(path: string): string {
  const { template } = getServer();
  return `${template}_${createHash("sha256").update(path).digest("hex").slice(0, 16)}`;
}

/** Returns the address of the database that replaces a file. */
export function toUrl(path: string): string {
  return toDatabaseUrl(getServer().serverUrl, nameOf(path));
}

/** Creates the database that replaces a file, unless it exists, and returns its address. */
export function openDatabaseOf(
  path: string,
  template: string = getServer().template,
): Promise<string> {
  return ensureDatabase(getServer().serverUrl, nameOf(path), template);
}

/** Returns the location of the database that replaces a file, in the form that the operator's commands expect. */
export function toEnginePlace(path: string): { path: string } | { url: string } {
  return engine === "sqlite" ? { path } : { url: toUrl(path) };
}

/** Returns the environment for a process with a database file, adapted to the engine of the run. */
export function toEngineEnv(env: Record<string, string>): Record<string, string> {
  if (engine === "sqlite" || "AGENT_DATABASE_URL" in env) return env;
  const { AGENT_DB_PATH: path = randomUUID(), ...others } = env;
  const { serverUrl, template } = getServer();
  return { ...others, AGENT_DATABASE_URL: ensureDatabaseSync(serverUrl, nameOf(path), template) };
}
