import { formatError } from "@agent/crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DemoCheck } from "./checks/demo-check.ts";
import { createProcesses, type Processes } from "./participants/processes.ts";
import { formatChecks } from "./report.ts";

/** The resources of a running demo. */
export interface DemoContext {
  /** The folder in which relays and agents store their data. */
  readonly dataDir: string;
  readonly processes: Processes;
  readonly print: (lines: readonly string[]) => void;
  /** Fires when the demo is interrupted. */
  readonly signal: AbortSignal;
}

/** Interrupts the demo on a signal or after its time limit. */
function createInterruption(limitMs: number): {
  readonly signal: AbortSignal;
  readonly interrupted: Promise<never>;
} {
  const controller = new AbortController();
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  interrupted.catch(() => {});
  const end = (reason: string) => {
    controller.abort();
    reject(new Error(reason));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => end(`stopped by ${name}`));
  }
  setTimeout(() => end(`not finished after ${limitMs / 1_000} seconds`), limitMs).unref();
  return { signal: controller.signal, interrupted };
}

function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Runs a demo, prints its checks, and removes all its processes and folders. */
export async function runToCompletion(
  limitMs: number,
  demo: (context: DemoContext) => Promise<readonly DemoCheck[]>,
): Promise<0 | 1> {
  const startedAt = performance.now();
  const processes = createProcesses();
  process.on("exit", () => processes.kill());
  const { signal, interrupted } = createInterruption(limitMs);
  const dataDir = await mkdtemp(join(tmpdir(), "agent-demo-"));
  let failures: string[];
  try {
    const running = demo({ dataDir, processes, print: printLines, signal });
    const checks = await Promise.race([running, interrupted, processes.failed]);
    printLines(formatChecks(checks));
    failures = checks.filter(({ passed }) => !passed).map(({ claim }) => claim);
  } catch (error) {
    failures = [formatError(error)];
  } finally {
    await processes.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
  if (failures.length > 0) {
    printLines([
      "",
      ...processes.lastLines(8),
      "",
      ...failures.map((failure) => `FAILED: ${failure}`),
    ]);
    return 1;
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  printLines(["", `All checks passed in ${seconds} s.`]);
  return 0;
}
