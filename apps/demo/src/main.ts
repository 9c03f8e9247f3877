import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { deposit, readBalances } from "./balances.ts";
import { bodyOf } from "./body-of.ts";
import type { Check } from "./check.ts";
import { hire } from "./hire.ts";
import { checkMoney } from "./money-checks.ts";
import { judgeOffline } from "./offline.ts";
import { createProcesses, type Processes } from "./processes.ts";
import { checkProof } from "./proof-checks.ts";
import {
  castLines,
  checkLines,
  moneyLines,
  proofLines,
  routingLines,
  workLines,
} from "./report.ts";
import { setStage } from "./stage.ts";

const limitMs = 60_000;
const root = fileURLToPath(new URL("../../../", import.meta.url));

interface Settings {
  readonly textPath: string;
  readonly outputDir: string;
}

/** One paid delegation from the deposit to the proof; what has to be true of it is answered. */
async function demo(
  { textPath, outputDir }: Settings,
  processes: Processes,
  dataDir: string,
  signal: AbortSignal,
): Promise<Check[]> {
  const prompt = await readFile(textPath, "utf8");
  const stage = await setStage(processes, dataDir);
  print(castLines(stage));

  await deposit(stage);
  const before = await readBalances(stage);
  const startedAt = performance.now();
  const hired = await hire(stage, prompt, signal);
  print(workLines(textPath, hired, Math.round(performance.now() - startedAt)));
  print(routingLines(hired));

  const after = await readBalances(stage);
  const reconciliation = bodyOf(await stage.operator.reconcile());
  print(moneyLines(hired, before, after));

  const receiptPath = join(outputDir, "receipt.json");
  await mkdir(outputDir, { recursive: true });
  await writeFile(receiptPath, `${JSON.stringify(hired.receipt, null, 2)}\n`);
  await processes.stop();
  const left = processes.alive();

  const { relay, research, linguist } = stage;
  const verdicts = judgeOffline(
    {
      receiptText: await readFile(receiptPath, "utf8"),
      keys: new Map([research, linguist].map(({ agentId, publicKey }) => [agentId, publicKey])),
      taskId: hired.outer.task.task_id,
      prompt,
    },
    hired.receipt.result,
  );
  print(proofLines(relative(root, receiptPath), hired, verdicts));
  return [
    ...checkMoney({ hired, before, after, reconciliation, feeRate: relay.fee_rate }),
    ...checkProof({ hired, prompt, verdicts, relayKey: relay.public_key }),
    { claim: "No process is left", held: left.length === 0 },
  ];
}

/** Ends the demo from outside: by a signal, or because it takes too long. */
function interruptions(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort(new Error(`stopped by ${name}`)));
  }
  const tooLong = new Error(`not over after ${limitMs / 1_000} seconds`);
  setTimeout(() => controller.abort(tooLong), limitMs).unref();
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function readSettings(): Settings {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: "string", default: join(root, "apps/demo/output") } },
  });
  const [text = "README.md"] = positionals;
  return { textPath: resolve(root, text), outputDir: resolve(root, values.output) };
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

async function main(): Promise<0 | 1> {
  const startedAt = performance.now();
  const processes = createProcesses();
  process.on("exit", () => processes.kill());
  const dataDir = await mkdtemp(join(tmpdir(), "agent-demo-"));
  const signal = interruptions();
  let failures: string[];
  try {
    const checks = await Promise.race([
      demo(readSettings(), processes, dataDir, signal),
      aborted(signal),
    ]);
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
