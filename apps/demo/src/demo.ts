import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deposit, readBalances } from "./balances.ts";
import { bodyOf } from "./body-of.ts";
import type { Check } from "./check.ts";
import { hire } from "./hire.ts";
import { checkMoney } from "./money-checks.ts";
import { judgeOffline } from "./offline.ts";
import { checkProof } from "./proof-checks.ts";
import { castLines, moneyLines, proofLines, routingLines, workLines } from "./report.ts";
import type { Surroundings } from "./run-to-end.ts";
import { setStage } from "./stage.ts";

export interface Settings {
  /** What the editor wants to have counted. */
  readonly textPath: string;
  /** Where the receipt is left. */
  readonly outputDir: string;
}

export type DemoOptions = Settings & Surroundings;

/** One paid delegation from the deposit to the proof; what has to be true of it is answered. */
export async function runDemo({
  textPath,
  outputDir,
  dataDir,
  processes,
  print,
  signal,
}: DemoOptions): Promise<Check[]> {
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
  print(proofLines(receiptPath, hired, verdicts));
  return [
    ...checkMoney({ hired, before, after, reconciliation, feeRate: relay.fee_rate }),
    ...checkProof({ hired, prompt, verdicts, relayKey: relay.public_key }),
    { claim: "No process is left", held: left.length === 0 },
  ];
}
