import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** A Node.js program that is configured by its arguments and by this environment alone. */
export interface Program {
  readonly name: string;
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RunningProcess {
  /** What `find` makes of the first line of output that it knows. */
  waitForLine<T>(find: (line: string) => T | undefined): Promise<T>;
  /** Ends it without a warning, as a crash would; resolves when it is gone. */
  crash(): Promise<void>;
}

export interface Processes {
  start(program: Program): RunningProcess;
  /** Rejects when one of them ends before it is asked to. */
  readonly failed: Promise<never>;
  /** Asks all of them to end and ends those that do not; resolves when none is left. */
  stop(): Promise<void>;
  /** For the last moment of this process, when nothing can be waited for. */
  kill(): void;
  /** The names of those that the operating system still knows. */
  listRunning(): string[];
  /** The end of what each of them wrote, for whoever has to find out what went wrong. */
  lastLines(count: number): string[];
}

interface Entry {
  readonly name: string;
  readonly child: ChildProcess;
  /** How it ended. */
  readonly ended: Promise<string>;
  /** That it ends is part of the demo. */
  mayEnd: boolean;
  readonly lines: string[];
  readonly watchers: Set<() => void>;
}

/** Who has not ended `graceMs` after it was asked to is killed. */
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
      void entry.ended.then((how) => {
        if (!stopped && !entry.mayEnd) fail(new Error(`${name} ${how}`));
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

/** Signal 0 only asks whether the process is there. */
function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
