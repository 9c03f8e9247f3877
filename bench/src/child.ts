import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A server in a separate process, so that the load driver does not share its event loop. */
export interface Child {
  readonly url: string;
  readonly pid: number;
  /** Returns the processor time in seconds that all threads have used so far. */
  cpuSeconds(): number;
  /** Returns the resident memory in MiB. */
  rssMiB(): number;
  stop(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

const TICKS_PER_SECOND = 100;

/**
 * Starts a script of this workspace and waits for the line that states its port. `launcher` is the program that
 * runs the script, with its arguments.
 */
export async function startChild(
  script: string,
  env: Record<string, string>,
  stderr: "inherit" | "ignore" = "inherit",
  launcher: readonly string[] = [process.execPath],
): Promise<Child> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const [command = process.execPath, ...leading] = launcher;
  const child = spawn(command, [...leading, "--conditions=agent-source", path], {
    // Passes NODE_OPTIONS on, so that a server can be profiled.
    env: { NODE_OPTIONS: process.env["NODE_OPTIONS"] ?? "", ...env },
    stdio: ["ignore", "pipe", stderr],
  });
  const port = await readPort(child);
  const stat = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    cpuSeconds() {
      const fields = stat("stat")
        .replace(/^.*\) /, "")
        .split(" ");
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    rssMiB: () => Number(/VmRSS:\s+(\d+)/.exec(stat("status"))?.[1]) / 1_024,
    stop: () => endChild(child, "SIGTERM"),
    kill: () => endChild(child, "SIGKILL"),
  };
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

async function readPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error("no output to read");
  const lines = createInterface({ input: child.stdout });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  lines.on("line", (line) => {
    const port = /(?:"port":|listening on http:\/\/127\.0\.0\.1:)(\d+)/.exec(line)?.[1];
    if (port === undefined) return;
    resolve(Number(port));
    // Reading the rest of the log line by line would cost the driver more than the load itself.
    lines.close();
    child.stdout?.resume();
  });
  child.once("exit", (code) => reject(new Error(`server ended with code ${code}`)));
  return promise;
}
