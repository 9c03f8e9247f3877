import type { Client } from "pg";
import { StorageUnavailable, TransactionConflict, type Isolation } from "../storage.ts";
import type { AgentChanges } from "../writing/agent-changes.ts";
import { isRefusal, type PendingJob } from "../writing/pending-job.ts";
import { NotedChanges } from "./noted-changes.ts";
import { isConflict, isUniqueViolation } from "./postgres-error.ts";
import { PostgresTx } from "./postgres-tx.ts";
import { getAgentParameter } from "./prepared-statement.ts";
import { runTogether } from "./together/run-together.ts";
import type { WriteListener } from "./together/rows-tx.ts";
import { RowsRefused, type FindColumnTypes } from "./together/write-rows.ts";
import { TAKE_TURN, type WritingConnection } from "./writing-connection.ts";

const SERIALIZABLE = "BEGIN ISOLATION LEVEL SERIALIZABLE";

const BEGIN: Readonly<Record<Isolation, string>> = {
  serializable: SERIALIZABLE,
  locked: "BEGIN ISOLATION LEVEL READ COMMITTED",
  together: SERIALIZABLE,
};

/** The parts that a batch can undo: all, each job, or each statement of each job. */
type Undo = "batch" | "job" | "statement";

/** The way in which a batch runs. */
export interface Mode {
  /** Whether jobs are decided in memory where that is possible. */
  readonly isTogether: boolean;
  /** Of the jobs that run statement by statement. */
  readonly undo: Undo;
}

type Settle = () => void;

/** A batch is done, must run again with savepoints, or met other work. */
type Pass =
  | { readonly kind: "committed" | "rolled back"; readonly acknowledgements: readonly Settle[] }
  | { readonly kind: "again"; readonly mode: Mode }
  | { readonly kind: "conflict"; readonly error: unknown };

/** The interface through which a writing process announces its changes to the others. */
export interface OtherProcesses {
  /** The mark of this process's changes. */
  readonly origin: string;
  /** Called after a commit of changes that they must read soon. */
  readonly notifyOfChanges: () => void;
}

/** Returns whether two jobs can share a transaction. */
export function isOfOneLevel(one: PendingJob, other: PendingJob): boolean {
  return BEGIN[one.isolation] === BEGIN[other.isolation];
}

interface Writer {
  readonly connection: WritingConnection;
  readonly changes: AgentChanges;
  readonly findTypes: FindColumnTypes;
  /** Whether a batch runs again because a key was taken. */
  readonly mayRepeat: boolean;
  /** Undefined while no other process may write. */
  readonly others: OtherProcesses | undefined;
}

/** Runs a batch in one transaction, from its BEGIN to its COMMIT or ROLLBACK. */
export async function runPass(
  { connection, others, ...writer }: Writer,
  batch: readonly PendingJob[],
  mode: Mode,
): Promise<Pass> {
  const client = await connection.acquire();
  try {
    const noted = new NotedChanges();
    const begin = BEGIN[batch[0]?.isolation ?? "serializable"];
    const missed = await takeTurn(client, others === undefined ? begin : `${begin}; ${TAKE_TURN}`);
    const pass = missed ?? (await runJobs({ client, noted, ...writer }, batch, mode));
    if (pass.kind === "committed") {
      if (others !== undefined) await noted.save(client, others.origin);
      const ended = await commit(client, pass);
      if (ended.kind === "committed" && noted.isUrgent) others?.notifyOfChanges();
      return ended;
    }
    await client.query("ROLLBACK");
    return pass;
  } catch (error) {
    // Closing the connection rolls back what was not committed.
    connection.discard(client);
    throw error;
  }
}

/**
 * Begins a transaction, which may wait for the batches of other processes; returns a conflict if they take
 * too long. Awaited, because a statement after a failed BEGIN would be committed on its own.
 */
async function takeTurn(client: Client, statements: string): Promise<Pass | undefined> {
  try {
    await client.query(statements);
    return undefined;
  } catch (error) {
    if (isConflict(error)) return { kind: "conflict", error };
    throw error;
  }
}

/**
 * Commits, and checks that the server did: it answers ROLLBACK and no error for a transaction that had
 * failed. Only a conflict is a definite refusal of the server; after any other error the commit may be
 * durable.
 */
async function commit(client: Client, pass: Pass): Promise<Pass> {
  try {
    const { command } = await client.query("COMMIT");
    if (command !== "COMMIT") throw new Error("the transaction was rolled back");
    return pass;
  } catch (error) {
    if (isConflict(error)) return { kind: "conflict", error };
    throw error;
  }
}

interface OpenTransaction extends Omit<Writer, "connection" | "others"> {
  readonly client: Client;
  readonly noted: NotedChanges;
}

/**
 * Runs the jobs of an open transaction; the caller commits it, or rolls it back to run it again. Those that
 * can be decided together come last, because a client may report its progress and, without waiting for an
 * answer, its result.
 */
async function runJobs(
  open: OpenTransaction,
  batch: readonly PendingJob[],
  mode: Mode,
): Promise<Pass> {
  const isAble = ({ isolation }: PendingJob) => mode.isTogether && isolation === "together";
  const able = batch.filter(isAble);
  const first = batch.filter((job) => !isAble(job));
  const isAlone = batch.length === 1;
  const pass = await runEach(open, first, { mode, isAlone });
  if (able.length === 0 || pass.kind !== "committed") return pass;
  const { client, findTypes } = open;
  try {
    const listener = createWriteListener(open);
    const { decided, rest } = await runTogether(client, able, { listener, findTypes });
    const last = await runEach(open, rest, {
      mode: isAlone ? mode : withSavepoints(mode),
      isAlone,
    });
    if (!("acknowledgements" in last)) return last;
    const settles = decided.map(
      ([job, end]) =>
        () =>
          settle(job, end),
    );
    const acknowledgements = [...pass.acknowledgements, ...settles, ...last.acknowledgements];
    return { ...last, acknowledgements };
  } catch (error) {
    if (isConflict(error)) return { kind: "conflict", error };
    if (!(error instanceof RowsRefused)) throw error;
    return { kind: "again", mode: { ...mode, isTogether: false } };
  }
}

/**
 * Returns the mode for jobs that cannot be decided together: with a savepoint each, because rolling back
 * the batch for a refused job would let its sender make all others run again.
 */
function withSavepoints(mode: Mode): Mode {
  return mode.undo === "batch" ? { ...mode, undo: "job" } : mode;
}

/** Notes what the statements of jobs in memory change. */
function createWriteListener({
  changes,
  noted,
}: Pick<OpenTransaction, "changes" | "noted">): WriteListener {
  return {
    onStatement(query, params) {
      const agentParameter = getAgentParameter(query);
      if (agentParameter === undefined) return;
      const agentId = changes.note(agentParameter, params);
      noted.add("agents", agentId === undefined ? [] : [agentId]);
    },
    onChange: (kind, words) => noted.add(kind, words),
  };
}

/** Runs jobs statement by statement; `isAlone` if the batch has no other job than this one. */
async function runEach(
  open: OpenTransaction,
  jobs: readonly PendingJob[],
  { mode, isAlone }: { readonly mode: Mode; readonly isAlone: boolean },
): Promise<Pass> {
  const { client } = open;
  const { undo } = mode;
  const acknowledgements: Settle[] = [];
  for (const job of jobs) {
    if (undo !== "batch") await client.query("SAVEPOINT job");
    const { mustRollBack, isAborted, acknowledge, error } = await runJob(open, job, undo);
    if (error !== undefined) return { kind: "conflict", error };
    if (mustRollBack && undo === "batch") {
      // A batch of one needs no second pass, because rolling it back affects no other job.
      return isAlone
        ? { kind: "rolled back", acknowledgements: [acknowledge] }
        : { kind: "again", mode: { ...mode, undo: "job" } };
    } else if (mustRollBack) {
      await client.query("ROLLBACK TO SAVEPOINT job");
    } else if (isAborted) {
      return { kind: "again", mode: { ...mode, undo: "statement" } };
    }
    if (undo !== "batch") await client.query("RELEASE SAVEPOINT job");
    acknowledgements.push(acknowledge);
  }
  return { kind: "committed", acknowledgements };
}

function settle(job: PendingJob, end: PromiseSettledResult<unknown>): void {
  if (end.status === "fulfilled") job.resolve(end.value);
  else job.reject(end.reason);
}

/** The end of a job, to be acknowledged after the commit; `error` if it met other work. */
interface JobEnd {
  readonly mustRollBack: boolean;
  readonly isAborted: boolean;
  readonly acknowledge: Settle;
  readonly error?: unknown;
}

async function runJob(
  { client, changes, noted, mayRepeat }: OpenTransaction,
  job: PendingJob,
  undo: Undo,
): Promise<JobEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const tx = new PostgresTx(client, {
    changes,
    noted,
    withSavepoints: undo === "statement",
    onStalled: () => reject(new Error("a transaction awaited something other than its tx")),
  });
  job.work(tx).then(resolve, reject);
  const [end] = await Promise.allSettled([promise]);
  await tx.end();
  const { isLost, isAborted, conflict, hasWritten } = tx.state;
  if (isLost) throw new StorageUnavailable("the connection to the database ended");
  const failed = end.status === "rejected" || isRefusal(end.value);
  return {
    mustRollBack: failed && (hasWritten || isAborted),
    isAborted,
    error: conflict ?? findConflict(job, end, mayRepeat),
    acknowledge: () => settle(job, end),
  };
}

/**
 * Returns the error of a job that can succeed when it is run again. In a serializable transaction the
 * server itself reports a key conflict in this way.
 */
function findConflict(
  { isolation }: PendingJob,
  end: PromiseSettledResult<unknown>,
  mayRepeat: boolean,
): unknown {
  if (end.status === "fulfilled") return undefined;
  const reason: unknown = end.reason;
  const isTaken = isolation === "locked" && mayRepeat && isUniqueViolation(reason);
  return isTaken || reason instanceof TransactionConflict ? reason : undefined;
}
