import { toDollars } from "@agent/budget";
import type { VerifiableCredential } from "@agent/credentials";
import { canonicalize, sha256Hex, unlessMalformed } from "@agent/crypto";
import type { NoShowRecord } from "@agent/receipts";
import type { RoutingRecord } from "@agent/routing-semiring";
import { formatBundle, signBundle, type Evidence, type Signer } from "@agent/verify";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { getTaskMoney } from "../../budget/accounts/task-money.ts";
import { parseCredential } from "../../credentials/credential-row.ts";
import { findCredentialIdByTask, findCredential } from "../../credentials/store.ts";
import { findResultOrigin, type ResultOrigin } from "../../federation/outbound/find-attestation.ts";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import { loadInspectionEvidence } from "../../inspections/reading/evidence.ts";
import { mayReadAsArbiter } from "../../inspections/reading/find-readable.ts";
import { buildBundleLog } from "../../log/build-bundle-log.ts";
import { findDecisionText } from "../../routing/decision.ts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { NoShowRow, ReceiptRow, TaskRow } from "../../storage/tables/tasks.ts";
import { listNestedTasks } from "./list-nested-tasks.ts";
import { listSigners } from "./list-signers.ts";
import { listNoShows } from "../assignment/no-show-store.ts";
import { findReceipt } from "./receipt-store.ts";
import { findTask } from "../store.ts";
import { parseAttempts, isForwarded, isExpired, isParticipant } from "../task.ts";
import { toTask } from "../task-view.ts";
import { parseArchivedReceipt } from "./parse-archived-receipt.ts";

type EvidenceServices = Pick<
  Services,
  "storage" | "runtime" | "identity" | "freezer" | "relayLog" | "trustGraph"
>;

interface EvidenceQuery {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/**
 * Returns everything that proves a finished task, in one document that can be verified without the
 * relay (docs/verifying.md).
 */
export async function getEvidence(
  services: EvidenceServices,
  { agentId, taskId, caller }: EvidenceQuery,
): Promise<Answer<Operations["getEvidence"]>> {
  const { storage, runtime, identity, freezer } = services;
  const task = await findTask(storage.read, taskId);
  if (task === undefined) return getExpiryEvidence(storage.read, { agentId, taskId, caller });
  if (task.agent_id !== agentId || isExpired(task, freezer.taskTime())) {
    return refuse("task.not_found");
  }
  if (
    !isParticipant(caller, task, services.trustGraph) &&
    !(await mayReadAsArbiter(services, task, caller))
  ) {
    return refuse("task.not_participant");
  }
  const archived = await findReceipt(storage.read, taskId);
  if (archived === undefined) return refuse("task.no_receipt");
  const evidence = await collectEvidence(services, task, archived, caller);
  const log = await buildBundleLog(services, evidence);
  const logged = { ...evidence, ...(log !== undefined && { log }) };
  const bundle = signBundle(logged, { ...identity, now: runtime.now() });
  return { status: 200, body: formatBundle(bundle) };
}

/** Only the no-shows remain of a task that expired while it was claimed. */
async function getExpiryEvidence(
  read: Reader,
  { agentId, taskId, caller }: EvidenceQuery,
): Promise<Answer<Operations["getEvidence"]>> {
  const rows = await listNoShows(read, taskId);
  const [first] = rows;
  if (first === undefined || first.target_id !== agentId) return refuse("task.not_found");
  const participants = [first.submitted_by, agentId, ...rows.map((row) => row.agent_id)];
  if (!mayActFor(caller, participants)) return refuse("task.not_participant");
  return { status: 200, body: canonicalize({ no_shows: parseNoShowRecords(rows) }) };
}

function parseNoShowRecords(rows: readonly NoShowRow[]): NoShowRecord[] {
  return rows.map(({ record }) => JSON.parse(record) as NoShowRecord);
}

async function collectEvidence(
  services: EvidenceServices,
  task: TaskRow,
  { body, received_at, receipt_hash, erased_at }: ReceiptRow,
  caller: Caller,
): Promise<Evidence> {
  const { read } = services.storage;
  const receipt = parseArchivedReceipt(body);
  const { routing_choice: choice, ...facts } = toTask(task);
  const inspected =
    task.acceptance === null
      ? undefined
      : await loadInspectionEvidence(read, services.identity, task.task_id);
  // A case that closes while the rest is read is shown as it was open.
  const isSettled = inspected === undefined || inspected.inspection.state === "closed";
  const from = isForwarded(task) ? await findResultOrigin(read, task.task_id) : undefined;
  const [routing, signers, nested_tasks, money, credential, noShows] = await Promise.all([
    loadRoutingRecord(read, task, caller),
    listSigners(read, receipt, {
      known: from && toRemoteSigner(from, task),
      others: inspected?.speakers,
    }),
    listNestedTasks(read, receipt),
    isSettled ? getTaskMoney(services, task.task_id) : { settlements: [], postings: [] },
    isSettled ? loadCredential(services, task.task_id) : null,
    listNoShows(read, task.task_id),
  ]);
  return {
    // A finished task has its receipt's status.
    task: { ...facts, status: receipt.status },
    routing: { choice, executors: toExecutorPrices(task), ...routing },
    receipt,
    ...(erased_at !== null && { erased: { erased_at, receipt_hash } }),
    signers,
    ...(nested_tasks.length > 0 && { nested_tasks }),
    ...(from !== undefined && { peer: from.peer }),
    ...money,
    ...(noShows.length > 0 && { no_shows: parseNoShowRecords(noShows) }),
    ...(inspected !== undefined && { inspection: inspected.inspection }),
    credential,
    received_at,
  };
}

/** Returns the hash of the routing record, and the record itself for readers that may see it. */
async function loadRoutingRecord(
  read: Reader,
  { task_id, submitted_by }: TaskRow,
  caller: Caller,
): Promise<Pick<Evidence["routing"], "record_hash" | "record">> {
  const text = await findDecisionText(read, task_id);
  if (text === undefined) return {};
  const record = JSON.parse(text) as RoutingRecord;
  const canonical = tryCanonicalize(record);
  if (canonical === null) return {};
  const isShown =
    mayActFor(caller, [submitted_by]) && canonical.length <= limits.evidenceRecordCharacters;
  return { record_hash: sha256Hex(canonical), ...(isShown && { record }) };
}

/** A record with a peer's claims about its agents may have no canonical form. */
function tryCanonicalize(record: RoutingRecord): string | null {
  return unlessMalformed(() => canonicalize(record)) ?? null;
}

/** Only the key under which the task was forwarded is known of another relay's agent. */
function toRemoteSigner({ workerId, publicKey }: ResultOrigin, { submitted_at }: TaskRow): Signer {
  const key = { public_key: publicKey, valid_from: submitted_at, valid_until: null };
  return { agent_id: workerId, keys: [key], chain: [], devices: [] };
}

/** Lists the executors that the task could be assigned to, in order, with their prices. */
function toExecutorPrices(task: TaskRow): Evidence["routing"]["executors"] {
  return parseAttempts(task).map(({ agent_id, charge }) => ({
    agent_id,
    price: toDollars(charge),
  }));
}

async function loadCredential(
  { storage }: EvidenceServices,
  taskId: string,
): Promise<VerifiableCredential | null> {
  const id = await findCredentialIdByTask(storage.read, taskId);
  const row = id === undefined ? undefined : await findCredential(storage.read, id);
  return row === undefined ? null : parseCredential(row);
}
