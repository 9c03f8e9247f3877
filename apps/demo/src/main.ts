import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runDemo, type Settings } from "./demo.ts";
import { createProcesses } from "./processes.ts";
import { checkLines } from "./report.ts";

const limitMs = 60_000;
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** `pnpm demo [FILE] [--output FOLDER]`, both as seen from the root of the repository. */
function readSettings(): Settings {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: "string", default: "apps/demo/output" } },
  });
  const [text = "README.md"] = positionals;
  return { textPath: resolve(root, text), outputDir: resolve(root, values.output) };
}

/** Ends the demo from outside: by a signal, or because it takes too long. */
function interruption(): { readonly signal: AbortSignal; readonly happened: Promise<never> } {
  const controller = new AbortController();
  const { promise: happened, reject } = Promise.withResolvers<never>();
  happened.catch(() => {});
  const end = (reason: string) => {
    controller.abort();
    reject(new Error(reason));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => end(`stopped by ${name}`));
  }
  setTimeout(() => end(`not over after ${limitMs / 1_000} seconds`), limitMs).unref();
  return { signal: controller.signal, happened };
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

async function main(): Promise<0 | 1> {
  const startedAt = performance.now();
  const processes = createProcesses();
  process.on("exit", () => processes.kill());
  const { signal, happened } = interruption();
  const dataDir = await mkdtemp(join(tmpdir(), "agent-demo-"));
  let failures: string[];
  try {
    const demo = runDemo({ ...readSettings(), dataDir, processes, print, signal });
    const checks = await Promise.race([demo, happened, processes.failed]);
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

// What was interrupted may still wait for something.
process.exit(await main());
