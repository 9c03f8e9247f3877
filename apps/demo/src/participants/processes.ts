import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** A Node.js program, configured only by its arguments and this environment. */
export interface Program {
  readonly name: string;
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RunningProcess {
  /** Resolves to the first result that `find` returns for a line of output. */
  waitForLine<T>(find: (line: string) => T | undefined): Promise<T>;
  /** Kills the process abruptly, as in a crash; resolves when it has ended. */
  crash(): Promise<void>;
}

export interface Processes {
  start(program: Program): RunningProcess;
  /** Rejects when a process ends before it is stopped. */
  readonly failed: Promise<never>;
  /** Terminates all processes and kills those that do not end in time; resolves when all have ended. */
  stop(): Promise<void>;
  /** Kills all processes without waiting; used when this process exits. */
  kill(): void;
  /** Lists the names of the processes that still exist. */
  listRunning(): string[];
  /** Returns the last lines of each process's output, to diagnose a failure. */
  lastLines(count: number): string[];
}

interface Entry {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves to a description of the process's end. */
  readonly ended: Promise<string>;
  /** Whether the process may end now, because the demo crashes it on purpose. */
  mayEnd: boolean;
  readonly lines: string[];
  readonly watchers: Set<() => void>;
}

/** Creates a group of processes; one that does not end within `graceMs` after SIGTERM is killed. */
export function createProcesses(graceMs = 4_000): Processes {
  const entries: Entry[] = [];
  const alive = () => entries.filter(({ child }) => isAlive(child.pid));
  const kill = () => alive().forEach(({ child }) => child.kill("SIGKILL"));
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let stopped = false;

  return {
    start({ name, main, args = [], env }) {
      if (stopped) throw new Error(`${name} was not started: the demo is being stopped`);
      const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const entry = trackProcess(name, child);
      entries.push(entry);
      void entry.ended.then((reason) => {
        if (!stopped && !entry.mayEnd) fail(new Error(`${name} ${reason}`));
      });
      return {
        waitForLine: (find) => waitForLine(entry, find),
        async crash() {
          entry.mayEnd = true;
          child.kill("SIGKILL");
          await entry.ended;
        },
      };
    },

    async stop() {
      stopped = true;
      for (const { child } of alive()) child.kill("SIGTERM");
      const timer = setTimeout(kill, graceMs);
      await Promise.all(entries.map(({ ended }) => ended));
      clearTimeout(timer);
    },

    failed,
    kill,
    listRunning: () => alive().map(({ name }) => name),
    lastLines: (count) =>
      entries.flatMap(({ name, lines }) => lines.slice(-count).map((line) => `${name}: ${line}`)),
  };
}

function trackProcess(name: string, child: ChildProcess): Entry {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const add = (line: string) => {
    if (line !== "") lines.push(line);
    for (const notify of watchers) notify();
  };
  for (const input of [child.stdout, child.stderr]) {
    if (input !== null) createInterface({ input }).on("line", add);
  }
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`could not be started: ${error.message}`));
    child.once("close", (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
  });
  void ended.then(add);
  return { name, child, ended, mayEnd: false, lines, watchers };
}

function waitForLine<T>(
  { lines, watchers }: Entry,
  find: (line: string) => T | undefined,
): Promise<T> {
  return new Promise((resolve) => {
    let next = 0;
    const scanLines = () => {
      while (next < lines.length) {
        const found = find(lines[next++] ?? "");
        if (found === undefined) continue;
        watchers.delete(scanLines);
        return resolve(found);
      }
    };
    watchers.add(scanLines);
    scanLines();
  });
}

/** Signal 0 only tests whether the process exists. */
function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
