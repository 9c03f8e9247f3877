import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createRelayClient, delegate } from "@agent/client";
import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import { allHold, type DemoCheck } from "../checks/demo-check.ts";
import { formatDollars, toMicro } from "../figures/money.ts";
import { runCommand } from "../network/run-command.ts";
import {
  getLogStatement,
  saveWitnessedEvidence,
  verifyWitnessed,
} from "../network/witnessed-evidence.ts";
import {
  getWorker,
  joinAsClient,
  startAgent,
  type ClientAgent,
  type Worker,
} from "../participants/participants.ts";
import { unwrapBody } from "../participants/unwrap-body.ts";
import { formatColumns, shortenId } from "../report.ts";
import type { DemoContext } from "../run-to-completion.ts";
import { startCluster, type Cluster, type ClusterMember } from "./start-cluster.ts";

/** The deposit in USD of each agent that delegates. */
const DEPOSIT = 10;
const TIMEOUT_MS = 40_000;
/** The time after which a request for a long poll has certainly reached the relay. */
const POLL_OPENS_MS = 500;

/** A paid task with its receipt. */
interface Job {
  readonly payer: ClientAgent;
  readonly worker: Worker;
  readonly prompt: string;
  readonly taskId: string;
  readonly receipt: ExecutionReceipt;
}

interface ClusterParticipants {
  readonly editor: ClientAgent;
  readonly publisher: ClientAgent;
  readonly linguist: Worker;
  readonly scribe: Worker;
}

/**
 * Runs paid tasks on two processes of one relay that share a database, kills the process that has the working
 * agent's socket and an open long poll, and returns the checks of the result.
 */
export async function runCluster({
  dataDir,
  processes,
  print,
}: Omit<DemoContext, "signal">): Promise<DemoCheck[]> {
  const cluster = await startCluster(processes);
  try {
    const { editor, publisher, linguist, scribe } = await startParticipants(cluster, (name) =>
      startAgent(processes, name, cluster.url, dataDir),
    );
    print(formatParticipants(cluster, [editor, publisher, linguist, scribe]));
    const state = join(dataDir, "monitor.json");

    const jobs = [
      await delegateTo(editor, linguist, "copying\ntexts"),
      await delegateTo(publisher, linguist, "several\nprocesses"),
    ];
    const before = await monitorLog(cluster, state);
    const holder = await findHolder(cluster, scribe);
    const running = await beginWork(cluster, editor, scribe);
    const poll = openPoll(holder, editor, running);
    await setTimeout(POLL_OPENS_MS);
    await holder.kill();
    const wasCut = !(await poll);
    print([`${holder.name} was killed: it held the scribe's socket and a poll for its result.`]);
    const killedAt = performance.now();
    jobs.push(await running.job);
    const seconds = ((performance.now() - killedAt) / 1_000).toFixed(1);
    print([`The other process has the result ${seconds} s later.`, ""]);
    jobs.push(await delegateTo(publisher, scribe, "written after the crash"));

    const books = unwrapBody(await cluster.operator.reconcile());
    const after = await monitorLog(cluster, state);
    const proofs = await Promise.all(
      jobs.map((job, at) => saveEvidence(cluster, job, dataDir, at)),
    );
    await processes.stop();
    await cluster.stop();
    const verified = await Promise.all(proofs.map(verifyWitnessed));
    print(formatJobs(jobs, books.totals));
    const { balances, holds, fees } = books.totals;
    return [
      {
        claim: "The killed process cut an open poll, and its task was paid all the same",
        passed: wasCut,
      },
      { claim: "Every receipt verifies offline", passed: allHold(jobs.map(isReceiptValid)) },
      {
        claim: "The evidence of every task verifies offline as logged",
        passed: allHold(verified.map(({ exitCode }) => exitCode === 0)),
      },
      {
        claim: "The log that was read before the crash is the beginning of the one after it",
        passed: before === 0 && after === 0,
      },
      { claim: "The books are consistent", passed: books.consistent },
      {
        claim: "The total amount of money is unchanged",
        passed: toMicro(balances) + toMicro(holds) + toMicro(fees) === toMicro(2 * DEPOSIT),
      },
      { claim: "No process is left", passed: processes.listRunning().length === 0 },
    ];
  } finally {
    await cluster.stop();
  }
}

async function startParticipants(
  { url, operator }: Cluster,
  start: (name: string) => Promise<string>,
): Promise<ClusterParticipants> {
  const worker = async (name: string) => getWorker(operator, name, await start(name));
  const [editor, publisher, linguist, scribe] = await Promise.all([
    joinAsClient("editor", url),
    joinAsClient("publisher", url),
    worker("linguist"),
    worker("scribe"),
  ]);
  for (const { agentId } of [editor, publisher]) {
    unwrapBody(await operator.deposit({ params: { agentId }, body: { amount: DEPOSIT } }));
  }
  return { editor, publisher, linguist, scribe };
}

async function delegateTo(
  payer: ClientAgent,
  worker: Worker,
  prompt: string,
  onSubmitted?: (taskId: string) => void,
): Promise<Job> {
  const { agentId } = worker;
  const done = await delegate(payer.client, {
    agentId,
    prompt,
    timeoutMs: TIMEOUT_MS,
    ...(onSubmitted !== undefined && { onSubmitted }),
  });
  if (!done.ok) throw new Error(`a delegation failed: ${done.message} (${done.code})`);
  return { payer, worker, prompt, taskId: done.task.task_id, receipt: done.receipt };
}

interface RunningJob {
  readonly worker: Worker;
  readonly taskId: string;
  readonly job: Promise<Job>;
}

/** Delegates a task, and resolves once the worker has claimed it. */
async function beginWork(
  { operator }: Cluster,
  payer: ClientAgent,
  worker: Worker,
): Promise<RunningJob> {
  const submitted = Promise.withResolvers<string>();
  const job = delegateTo(payer, worker, "a text worth copying", submitted.resolve);
  job.catch(submitted.reject);
  const taskId = await submitted.promise;
  const params = { agentId: worker.agentId, taskId };
  while (unwrapBody(await operator.getTask({ params })).task.status === "pending") {
    await setTimeout(50);
  }
  return { worker, taskId, job };
}

/** Returns the process to which a worker's device is connected. */
function findHolder({ members }: Cluster, { agentId }: Worker): Promise<ClusterMember> {
  return Promise.race(
    members.map(async (member) => {
      await member.waitForDevice(agentId);
      return member;
    }),
  );
}

/** Waits at one process until a task ends; false if the connection was lost first. */
async function openPoll(
  { url }: ClusterMember,
  payer: ClientAgent,
  { worker, taskId }: RunningJob,
): Promise<boolean> {
  const { agentId, deviceId, secretKey } = payer;
  const client = createRelayClient({ baseUrl: url, identity: { agentId, deviceId, secretKey } });
  const params = { agentId: worker.agentId, taskId };
  return (await client.getTask({ params, query: { wait: 30 } })).ok;
}

/** Reads the log and checks that it extends the part that was read before; returns the exit code. */
async function monitorLog(cluster: Cluster, state: string): Promise<number> {
  const { vkey } = getLogStatement({ name: "the relay", info: cluster.info });
  const of = ["--log", vkey, "--url", `${cluster.url}/log/v1`, "--state", state];
  return (await runCommand("agent-monitor", of)).exitCode;
}

function saveEvidence(cluster: Cluster, { worker, taskId }: Job, dataDir: string, at: number) {
  return saveWitnessedEvidence(join(dataDir, `evidence-${at}.json`), {
    relay: { name: "the relay", info: cluster.info, operator: cluster.operator },
    witnesses: [],
    task: { agentId: worker.agentId, taskId },
  });
}

function isReceiptValid({ receipt, worker: { publicKey }, taskId, prompt }: Job): boolean {
  return verifyReceipt(receipt, { publicKey, taskId, prompt }).valid;
}

function formatParticipants(
  { info, url, members }: Cluster,
  agents: readonly { readonly name: string; readonly agentId: string }[],
): string[] {
  return [
    ...formatColumns([
      ["relay", shortenId(info.relay_id), `at ${url}`],
      ...members.map((member) => [member.name, "", `at ${member.url}, on the same database`]),
      ...agents.map(({ name, agentId }) => [name, shortenId(agentId), "at either process"]),
    ]),
    "",
  ];
}

function formatJobs(
  jobs: readonly Job[],
  totals: { readonly balances: number; readonly fees: number },
): string[] {
  const rows = jobs.map(({ payer, worker, receipt }) => [
    payer.name,
    worker.name,
    receipt.status,
    formatDollars(worker.price),
  ]);
  return [
    ...formatColumns([["payer", "worker", "receipt", "price"], ...rows], 3),
    `  balances ${formatDollars(totals.balances)}, fees ${formatDollars(totals.fees)}`,
    "",
  ];
}
