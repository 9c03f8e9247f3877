import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { depositFunds, getBalances } from "./figures/balances.ts";
import { unwrapBody } from "./participants/unwrap-body.ts";
import type { DemoCheck } from "./checks/demo-check.ts";
import { delegateReport } from "./participants/delegate-report.ts";
import { checkMoney } from "./checks/money-checks.ts";
import { verifyOffline } from "./checks/verify-offline.ts";
import { checkProof } from "./checks/proof-checks.ts";
import {
  formatParticipants,
  formatMoney,
  formatProof,
  formatRouting,
  formatWork,
} from "./report.ts";
import type { DemoContext } from "./run-to-completion.ts";
import { startParticipants } from "./participants/participants.ts";

export interface DemoSettings {
  /** The text whose terms the editor wants counted. */
  readonly textPath: string;
  /** The folder that the receipt is written to. */
  readonly outputDir: string;
}

export type DemoOptions = DemoSettings & DemoContext;

/** Runs one paid delegation from the deposit to the proof, and returns the checks of the result. */
export async function runDemo({
  textPath,
  outputDir,
  dataDir,
  processes,
  print,
  signal,
}: DemoOptions): Promise<DemoCheck[]> {
  const prompt = await readFile(textPath, "utf8");
  const participants = await startParticipants(processes, dataDir);
  print(formatParticipants(participants));

  await depositFunds(participants);
  const before = await getBalances(participants);
  const startedAt = performance.now();
  const delegation = await delegateReport(participants, prompt, signal);
  print(formatWork(textPath, delegation, Math.round(performance.now() - startedAt)));
  print(formatRouting(delegation));

  const after = await getBalances(participants);
  const reconciliation = unwrapBody(await participants.operator.reconcile());
  print(formatMoney(delegation, before, after));

  const receiptPath = join(outputDir, "receipt.json");
  await mkdir(outputDir, { recursive: true });
  await writeFile(receiptPath, `${JSON.stringify(delegation.receipt, null, 2)}\n`);
  await processes.stop();
  const runningNames = processes.listRunning();

  const { relay, research, linguist } = participants;
  const verdicts = verifyOffline(
    {
      receiptText: await readFile(receiptPath, "utf8"),
      keys: new Map([research, linguist].map(({ agentId, publicKey }) => [agentId, publicKey])),
      taskId: delegation.outer.task.task_id,
      prompt,
    },
    delegation.receipt.result,
  );
  print(formatProof(receiptPath, delegation, verdicts));
  return [
    ...checkMoney({ delegation, before, after, reconciliation, feeRate: relay.fee_rate }),
    ...checkProof({ delegation, prompt, verdicts, relayKey: relay.public_key }),
    { claim: "No process is left", passed: runningNames.length === 0 },
  ];
}
