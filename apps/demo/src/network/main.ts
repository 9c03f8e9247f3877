import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcesses } from "../processes.ts";
import { checkLines } from "../report.ts";
import { runNetwork } from "./run-network.ts";

const limitMs = 90_000;

/** Ends the demo from outside: by a signal, or because it takes too long. */
function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => reject(new Error(`stopped by ${name}`)));
    }
    const late = () => reject(new Error(`not over after ${limitMs / 1_000} seconds`));
    setTimeout(late, limitMs).unref();
  });
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

async function main(): Promise<0 | 1> {
  const startedAt = performance.now();
  const processes = createProcesses();
  process.on("exit", () => processes.kill());
  const dataDir = await mkdtemp(join(tmpdir(), "agent-network-"));
  let failures: string[];
  try {
    const network = runNetwork({ dataDir, processes, print });
    const checks = await Promise.race([network, interrupted(), processes.failed]);
    print(checkLines(checks));
    failures = checks.filter(({ held }) => !held).map(({ claim }) => claim);
  } catch (error) {
    failures = [error instanceof Error ? error.message : String(error)];
  } finally {
    await processes.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
  if (failures.length > 0) {
    print(["", ...processes.lastLines(8), "", ...failures.map((what) => `FAILED: ${what}`)]);
    return 1;
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  print(["", `All of it held, in ${seconds} s.`]);
  return 0;
}

process.exit(await main());
