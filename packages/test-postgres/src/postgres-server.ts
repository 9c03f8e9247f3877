import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Primary } from "./copy-primary.ts";

/** A running private server, with the superuser's address of its database `postgres`. */
export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** The temporary folder that contains everything that belongs to the server. */
  readonly folder: string;
  stop(): Promise<void>;
}

const SUPERVISOR = fileURLToPath(new URL("supervisor.ts", import.meta.url));

/**
 * Starts PostgreSQL on a free loopback port. It ends with this process, even if this process is killed. Unless
 * it is `durable`, it loses stored data if the machine crashes.
 */
export function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  return runSupervisor([durable ? "durable" : "fast"]);
}

/**
 * Starts a durable replica, which follows a server until `SELECT pg_promote()`. The server waits for the
 * replica only after `requireReplica`.
 */
export function startReplica({ url, folder }: PostgresServer): Promise<PostgresServer> {
  const primary: Primary = { url, data: join(folder, "data") };
  return runSupervisor(["replica", JSON.stringify(primary)]);
}

async function runSupervisor(args: readonly string[]): Promise<PostgresServer> {
  const supervisor = spawn(process.execPath, [SUPERVISOR, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  supervisor.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(supervisor, "close");
  const lines = createInterface({ input: supervisor.stdout });
  const started = await Promise.race([once(lines, "line"), ended.then(() => undefined)]);
  if (started === undefined) throw new Error(errors);
  const line = JSON.parse(String(started[0])) as Omit<PostgresServer, "stop">;
  return {
    ...line,
    async stop() {
      supervisor.stdin.end();
      await ended;
    },
  };
}
