import { join } from "node:path";
import { allHold, type DemoCheck } from "../checks/demo-check.ts";
import { formatDollars, toMicro, formatPercent } from "../figures/money.ts";
import { formatColumns, shortenId } from "../report.ts";
import type { DemoContext } from "../run-to-completion.ts";
import { positionsAgree, sumMoney, waitUntilSettled, type RelayTotals } from "./relay-totals.ts";
import { startNetwork, DEPOSITS, type NetworkParticipants } from "./network-participants.ts";
import type { CommandResult } from "./run-command.ts";
import { delegateAcrossRelays, type ForwardedJob } from "./delegate-across-relays.ts";
import { verifyJob, type JobProof } from "./verify-job.ts";
import { saveWitnessedEvidence, verifyWitnessed } from "./witnessed-evidence.ts";

/**
 * Runs paid tasks across three relays, crashes the middle one during a task, and returns the checks
 * of the result.
 */
export async function runNetwork({
  dataDir,
  processes,
  print,
}: Omit<DemoContext, "signal">): Promise<DemoCheck[]> {
  const participants = await startNetwork(processes, dataDir);
  const { relays, editor, publisher, linguist, research, professor } = participants;
  const [alpha, beta, gamma] = relays;
  print(formatParticipants(participants));

  const jobs = [
    await delegateAcrossRelays(editor, research, "Relays settle what agents agree on.", [
      alpha,
      beta,
    ]),
    await delegateAcrossRelays(publisher, linguist, "settling\nrelays", [gamma, beta]),
    await delegateAcrossRelays(editor, professor, "federated\nagents", [alpha, beta, gamma]),
  ];
  const crash = await beta.crash();
  print(["beta was killed. The editor delegates to the professor behind it:"]);
  const runningJob = delegateAcrossRelays(editor, professor, "restarted\nrelays", [
    alpha,
    beta,
    gamma,
  ]);
  runningJob.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await crash.restart();
  jobs.push(await runningJob);
  print(["beta runs again, and the task is complete.", ""]);

  const totals = await waitUntilSettled(relays);
  print([...formatJobs(jobs, relays), ...formatTotals(totals)]);
  const [{ taskId }] = jobs as [ForwardedJob];
  const evidence = await saveWitnessedEvidence(join(dataDir, "evidence.json"), {
    relay: beta,
    witnesses: [alpha, gamma],
    task: { agentId: research.agentId, taskId },
  });
  await processes.stop();
  const runningNames = processes.listRunning();
  const proofs = jobs.map(verifyJob);
  const witnessed = await verifyWitnessed(evidence);
  print([...formatProofs(proofs), ...formatEvidence(witnessed)]);

  const paidIn = Object.values(DEPOSITS).reduce((sum, amount) => sum + toMicro(amount), 0);
  return [
    {
      claim: "Every receipt verifies offline",
      passed: allHold(proofs.map(({ receipt }) => receipt)),
    },
    {
      claim: "Every attestation verifies offline, one for each relay on the path",
      passed:
        allHold(proofs.flatMap(({ attestations }) => attestations)) &&
        proofs.flatMap(({ attestations }) => attestations).length === 6,
    },
    {
      claim: "The totals of every relay are consistent",
      passed: allHold(totals.map(({ consistent }) => consistent)),
    },
    {
      claim: "Each pair of relays agrees on the debt between them",
      passed: positionsAgree(totals),
    },
    { claim: "The total amount of money is unchanged", passed: sumMoney(totals) === paidIn },
    { claim: "No process is left", passed: runningNames.length === 0 },
    {
      claim: "The evidence of a task verifies offline as logged, and witnessed 2 of 2",
      passed: witnessed.exitCode === 0 && witnessed.lines.join().includes("witnessed 2 of 2"),
    },
  ];
}

function formatParticipants({
  relays,
  editor,
  publisher,
  research,
  linguist,
  professor,
}: NetworkParticipants): string[] {
  const [alpha, beta, gamma] = relays;
  return [
    ...formatColumns([
      ...relays.map(({ name, url, info }) => [
        name,
        shortenId(info.relay_id),
        `fee ${formatPercent(info.fee_rate)}, at ${url}`,
      ]),
      ["editor", shortenId(editor.agentId), `delegates at ${alpha.name}`],
      ["publisher", shortenId(publisher.agentId), `delegates at ${gamma.name}`],
      ...[research, linguist].map((one) => [
        one.name,
        shortenId(one.agentId),
        `works at ${beta.name}, ${one.capability} for $${formatDollars(one.price)}`,
      ]),
      [
        professor.name,
        shortenId(professor.agentId),
        `works at ${gamma.name}, ${professor.capability} for $${formatDollars(professor.price)}`,
      ],
    ]),
    "",
    `${alpha.name} and ${gamma.name} reach each other only through ${beta.name}.`,
    "",
  ];
}

function formatJobs(
  jobs: readonly ForwardedJob[],
  relays: NetworkParticipants["relays"],
): string[] {
  const nameOf = (id: string) => relays.find(({ info }) => info.relay_id === id)?.name ?? id;
  const rows = jobs.map(({ payer, worker, attested, receipt }) => [
    payer.name,
    worker.name,
    attested.map(({ attestation }) => nameOf(attestation.relay_id)).join(", "),
    receipt.status,
    formatDollars(worker.price),
  ]);
  return [...formatColumns([["payer", "worker", "via", "receipt", "price"], ...rows], 4), ""];
}

function formatTotals(totals: readonly RelayTotals[]): string[] {
  const rows = totals.map(({ relay, balances, fees, positions }) => [
    relay.name,
    formatDollars(balances),
    formatDollars(fees),
    ...totals.map((other) => {
      const position = positions.get(other.relay.info.relay_id);
      return position === undefined ? "" : formatDollars(position);
    }),
  ]);
  const owes = totals.map(({ relay }) => `owes ${relay.name}`);
  return [...formatColumns([["relay", "balances", "fees", ...owes], ...rows], 1), ""];
}

function formatProofs(proofs: readonly JobProof[]): string[] {
  const formatValidity = (valid: boolean) => (valid ? "valid" : "INVALID");
  const rows = proofs.map(({ job, receipt, attestations }) => [
    `${job.worker.name} for ${job.payer.name}`,
    `receipt ${formatValidity(receipt)}`,
    ...attestations.map(
      (valid, at) => `${job.attested[at]?.by.name ?? ""} ${formatValidity(valid)}`,
    ),
  ]);
  return [
    "All processes have ended. Verified from the receipts and attestations alone:",
    ...formatColumns(rows),
    "",
  ];
}

function formatEvidence({ lines }: CommandResult): string[] {
  return [
    "The evidence of research for editor at beta, verified by agent-verify with both witnesses named:",
    ...lines.map((line) => `  ${line}`),
    "",
  ];
}
