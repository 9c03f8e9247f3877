import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running server of its own, with the superuser's address of its database `postgres`. */
export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** The temporary folder that holds all of it. */
  readonly folder: string;
  stop(): Promise<void>;
}

const SUPERVISOR = fileURLToPath(new URL("supervisor.ts", import.meta.url));

/**
 * Starts PostgreSQL on a free port of loopback. It ends with this process, even if that is killed.
 * Unless it is `durable`, a crash of the machine loses what it has stored.
 */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const supervisor = spawn(process.execPath, [SUPERVISOR, durable ? "durable" : "fast"], {
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
