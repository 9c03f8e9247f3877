import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { depositFunds, getBalances } from "./figures/balances.ts";
import { unwrapBody } from "./participants/unwrap-body.ts";
import type { DemoCheck } from "./checks/demo-check.ts";
import { delegateReport } from "./participants/delegate-report.ts";
import { disputeSummary } from "./participants/dispute-summary.ts";
import { checkDispute, formatEvidence } from "./checks/dispute-checks.ts";
import { checkMoney } from "./checks/money-checks.ts";
import { verifyOffline } from "./checks/verify-offline.ts";
import { checkProof } from "./checks/proof-checks.ts";
import {
  formatDispute,
  formatParticipants,
  formatMoney,
  formatProof,
  formatRouting,
  formatWork,
} from "./report.ts";
import type { DemoContext } from "./run-to-completion.ts";
import { startParticipants } from "./participants/participants.ts";

export interface DemoSettings {
  /** The text whose terms the editor wants to have counted. */
  readonly textPath: string;
  /** The folder to which the receipt and the evidence of the dispute are written. */
  readonly outputDir: string;
}

export type DemoOptions = DemoSettings & DemoContext;

/** Runs one paid delegation and one dispute, from the deposit to the proof, and returns the checks of the result. */
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

  const dispute = await disputeSummary(participants);
  print(formatDispute(dispute));
  const disputed = unwrapBody(await participants.operator.reconcile());

  const receiptPath = join(outputDir, "receipt.json");
  const evidencePath = join(outputDir, "evidence.json");
  await mkdir(outputDir, { recursive: true });
  await writeFile(receiptPath, `${JSON.stringify(delegation.receipt, null, 2)}\n`);
  await writeFile(evidencePath, formatEvidence(dispute));
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
    ...checkDispute(dispute, await readFile(evidencePath, "utf8"), disputed.consistent),
    { claim: "No process is left", passed: runningNames.length === 0 },
  ];
}
