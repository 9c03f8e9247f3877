import { reconstructLedgerInSteps } from "@agent/ledger";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { mayActFor, type Caller } from "../identity/caller.ts";
import { mayReadAsArbiter } from "../inspections/reading/find-readable.ts";
import { createRoom } from "../records/room.ts";
import type { Services } from "../services.ts";
import type { RunInTurn } from "../storage/create-turns.ts";
import { runWithPauses } from "../storage/run-with-pauses.ts";
import { createYieldingReader } from "../storage/yielding-reader.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf } from "../tasks/task.ts";
import { loadGoalRecords } from "./load-goal-records.ts";
import { findLedger } from "./store.ts";

interface LedgerRequest {
  readonly agentId: string;
  readonly goalId: string;
  readonly caller: Caller;
}

interface LedgerDependencies extends Pick<
  Services,
  "storage" | "runtime" | "identity" | "freezer"
> {
  readonly runInTurn: RunInTurn;
}

/** Returns the text of the signed ledger as received, or an unsigned one built from the relay's records. */
export async function getLedger(
  services: LedgerDependencies,
  asked: LedgerRequest,
): Promise<Answer<Operations["getLedger"]>> {
  if (!(await mayRead(services, asked))) return refuse("ledger.not_participant");
  const { agentId, goalId } = asked;
  const signed = await findLedger(services.storage.read, { agent_id: agentId, goal_id: goalId });
  if (signed !== undefined) return { status: 200, body: signed.body };
  return answerFromRecords(services, asked);
}

/** Returns the ledger that follows from the relay's own records, even if the agent signed one. */
export async function getManifest(
  services: LedgerDependencies,
  asked: LedgerRequest,
): Promise<Answer<Operations["getManifest"]>> {
  if (!(await mayRead(services, asked))) return refuse("ledger.not_participant");
  return answerFromRecords(services, asked);
}

/** One ledger is built at a time, because each holds several copies of its records in memory. */
async function answerFromRecords(
  services: LedgerDependencies,
  asked: LedgerRequest,
): Promise<Answer<Operations["getLedger" | "getManifest"]>> {
  const text = await services.runInTurn(() => reconstructFromRecords(services, asked));
  return text === undefined ? refuse("ledger.not_found") : { status: 200, body: text };
}

/**
 * Builds the text of the ledger from as many records as fit: it has no pages, because its hash covers all
 * events, and clients refuse larger answers. Pauses for other work, because a goal can have 10,000 events.
 */
async function reconstructFromRecords(
  { storage, runtime }: LedgerDependencies,
  { agentId, goalId }: LedgerRequest,
): Promise<string | undefined> {
  const now = runtime.now();
  const read = createYieldingReader(storage.read);
  for (let bytes: number = limits.outboundBytes; ;) {
    const room = createRoom(bytes);
    const records = await loadGoalRecords(read, { agentId, goalId }, { now, room });
    const ledger = await runWithPauses(reconstructLedgerInSteps(records));
    if (ledger === null) return undefined;
    const text = JSON.stringify(ledger);
    const size = Buffer.byteLength(text);
    if (size <= limits.outboundBytes) return text;
    // A ledger states some texts of its records more than once. Less than a tenth may not leave out a record.
    bytes = Math.floor(bytes * Math.min(0.9, limits.outboundBytes / size));
  }
}

/**
 * The agent itself may read, and the submitter of the task whose id is the goal's, and the arbiter that
 * decides about it (docs/decisions.md, 11).
 */
async function mayRead(
  services: LedgerDependencies,
  { agentId, goalId, caller }: LedgerRequest,
): Promise<boolean> {
  if (mayActFor(caller, [agentId])) return true;
  const task = await findTask(services.storage.read, goalId);
  if (task === undefined || ![task.agent_id, executorOf(task)].includes(agentId)) return false;
  return mayActFor(caller, [task.submitted_by]) || (await mayReadAsArbiter(services, task, caller));
}
