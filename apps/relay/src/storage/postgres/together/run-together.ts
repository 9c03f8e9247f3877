import type { Client } from "pg";
import { TransactionConflict, type Tx } from "../../storage.ts";
import { isRefusal } from "../../writing/pending-job.ts";
import { isConflict, isConnectionLost } from "../postgres-error.ts";
import { LoadedRows } from "./loaded-rows.ts";
import { RowLayer } from "./row-layer.ts";
import { RowsTx, type WriteListener } from "./rows-tx.ts";
import { RowsRefused, writeRows, type FindColumnTypes } from "./write-rows.ts";
import { yieldToEventLoop } from "../../yield-to-event-loop.ts";

interface TogetherJob {
  readonly work: (tx: Tx) => Promise<unknown>;
}

type JobEnd = PromiseSettledResult<unknown>;

export interface TogetherResult<Job> {
  /** The ends of the jobs that were decided, whose writes the transaction now holds. */
  readonly decided: readonly (readonly [job: Job, end: JobEnd])[];
  /** The jobs that must run statement by statement. */
  readonly rest: readonly Job[];
}

export interface TogetherOptions {
  readonly listener: WriteListener;
  readonly findTypes: FindColumnTypes;
}

/**
 * Decides as many jobs of a batch as possible in memory, one after another, and writes their changes with
 * one statement per table. To load what they need with few statements, all jobs first run concurrently in a
 * dry run, each as if it were alone. No other transaction may change the rows in the meantime.
 */
export async function runTogether<Job extends TogetherJob>(
  client: Client,
  jobs: readonly Job[],
  options: TogetherOptions,
): Promise<TogetherResult<Job>> {
  try {
    return await decideJobs(client, jobs, options);
  } catch (cause) {
    const isRefused = cause instanceof RowsRefused;
    if (isRefused || isConflict(cause) || isConnectionLost(cause)) throw cause;
    throw new RowsRefused("the database refused rows of a batch", { cause });
  }
}

async function decideJobs<Job extends TogetherJob>(
  client: Client,
  jobs: readonly Job[],
  { listener, findTypes }: TogetherOptions,
): Promise<TogetherResult<Job>> {
  const loads = new LoadedRows();
  const accepted = new RowLayer(loads);
  const decided: [Job, JobEnd][] = [];
  const rest: Job[] = [];
  const able = jobs.length === 1 ? new Set(jobs) : await runDry(client, jobs, loads);
  for (const job of jobs) {
    const layer = new RowLayer(accepted);
    const tx = new RowsTx(layer, loads, listener);
    const end = able.has(job) ? await runJob(client, job, tx, loads) : undefined;
    if (end === undefined) {
      rest.push(job);
      continue;
    }
    if (end.status === "fulfilled" && !isRefusal(end.value)) accepted.merge(layer);
    decided.push([job, end]);
  }
  await writeRows(client, accepted, findTypes);
  return { decided, rest };
}

/** Runs all jobs without effect, and returns those that can be decided in memory. */
async function runDry<Job extends TogetherJob>(
  client: Client,
  jobs: readonly Job[],
  loads: LoadedRows,
): Promise<Set<Job>> {
  const runs = jobs.map((job) => ({ job, tx: new RowsTx(new RowLayer(loads), loads) }));
  const able = new Set<Job>();
  const ends = runs.map(async ({ job, tx }) => {
    const [end] = await Promise.allSettled([Promise.race([job.work(tx), tx.stopped])]);
    if (!tx.isStopped && end.status === "fulfilled") able.add(job);
  });
  await waitFor(Promise.all(ends), client, loads);
  for (const { tx } of runs) tx.end();
  return able;
}

/** Runs a job; returns undefined if it cannot be decided in memory, and then it has left no trace. */
async function runJob(
  client: Client,
  { work }: TogetherJob,
  tx: RowsTx,
  loads: LoadedRows,
): Promise<JobEnd | undefined> {
  const ends: JobEnd[] = [];
  const ended = Promise.allSettled([Promise.race([work(tx), tx.stopped])]);
  await waitFor(
    ended.then(([end]) => ends.push(end)),
    client,
    loads,
  );
  tx.end();
  const [end] = ends;
  const isOther = end?.status === "rejected" && end.reason instanceof TransactionConflict;
  return tx.isStopped || isOther ? undefined : end;
}

/**
 * Waits for work that awaits only its own reads. Returns early if the work awaits anything else, which a
 * transaction must not do.
 */
async function waitFor(work: Promise<unknown>, client: Client, loads: LoadedRows): Promise<void> {
  let isDone = false;
  const done = work.then(() => (isDone = true));
  for (;;) {
    await Promise.race([done, yieldToEventLoop()]);
    if (isDone || !loads.isWaiting) return;
    await loads.send(client);
  }
}
