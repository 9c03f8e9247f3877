import { asMicro, fromMicro } from "@agent/budget";
import type { VerifiableCredential } from "@agent/credentials";
import { canonicalize, CanonicalJsonError, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt, NoShowRecord } from "@agent/receipts";
import type { RoutingRecord } from "@agent/routing-semiring";
import {
  bundleText,
  signBundle,
  type Evidence,
  type EvidenceBundle,
  type Signer,
  type Voucher,
} from "@agent/verify";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { moneyOfTask } from "../budget/task-money.ts";
import { documentOf } from "../credentials/credential-row.ts";
import { credentialOfTask, findCredential } from "../credentials/store.ts";
import { takenFrom, type TakenFrom } from "../federation/attestation-of.ts";
import { actsFor, type Caller } from "../identity/caller.ts";
import { decisionOf } from "../routing/decision.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { NoShowRow, ReceiptRow, TaskRow } from "../storage/tables/tasks.ts";
import { nestedTasksOf } from "./nested-tasks.ts";
import { signersOf } from "./signers.ts";
import { noShowsOf } from "./no-show-store.ts";
import { findReceipt } from "./receipt-store.ts";
import { findTask } from "./store.ts";
import { attemptsOf, isAbroad, isGone, isParticipant, taskOf } from "./view.ts";

type EvidenceServices = Pick<Services, "storage" | "runtime" | "identity" | "freezer">;

interface Wanted {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

/** All that proves a finished task, in one document that stands without the relay (docs/verifying.md). */
export async function showEvidence(
  services: EvidenceServices,
  { agentId, taskId, caller }: Wanted,
): Promise<Answer<Operations["getEvidence"]>> {
  const { storage, runtime, identity, freezer } = services;
  const task = await findTask(storage.read, taskId);
  if (task === undefined) return evidenceOfExpiry(storage.read, { agentId, taskId, caller });
  if (task.agent_id !== agentId || isGone(task, freezer.taskTime())) {
    return refuse("task.not_found");
  }
  if (!isParticipant(caller, task)) return refuse("task.not_participant");
  const archived = await findReceipt(storage.read, taskId);
  if (archived === undefined) return refuse("task.no_receipt");
  const evidence = await collect(services, task, archived, caller);
  const bundle = signed(evidence, { ...identity, now: runtime.now() });
  return bundle === null ? refuse("evidence.too_deep") : { status: 200, body: bundleText(bundle) };
}

/** Of a task that expired while it was claimed only the no-shows are left. */
async function evidenceOfExpiry(
  read: Reader,
  { agentId, taskId, caller }: Wanted,
): Promise<Answer<Operations["getEvidence"]>> {
  const rows = await noShowsOf(read, taskId);
  const [first] = rows;
  if (first === undefined || first.target_id !== agentId) return refuse("task.not_found");
  const participants = [first.submitted_by, agentId, ...rows.map((row) => row.agent_id)];
  if (!actsFor(caller, participants)) return refuse("task.not_participant");
  return { status: 200, body: canonicalize({ no_shows: recordsOf(rows) }) };
}

function recordsOf(rows: readonly NoShowRow[]): NoShowRecord[] {
  return rows.map(({ record }) => JSON.parse(record) as NoShowRecord);
}

async function collect(
  services: EvidenceServices,
  task: TaskRow,
  { body, received_at, receipt_hash, erased_at }: ReceiptRow,
  caller: Caller,
): Promise<Evidence> {
  const { read } = services.storage;
  const receipt = JSON.parse(body) as ExecutionReceipt;
  const { routing_choice: choice, ...facts } = taskOf(task);
  const from = isAbroad(task) ? await takenFrom(read, task.task_id) : undefined;
  const [routing, signers, nested_tasks, money, credential, noShows] = await Promise.all([
    inputsFor(read, task, caller),
    signersOf(read, receipt, from && workerOf(from, task)),
    nestedTasksOf(read, receipt),
    moneyOfTask(services, task.task_id),
    credentialFor(services, task.task_id),
    noShowsOf(read, task.task_id),
  ]);
  return {
    // A finished task has its receipt's status.
    task: { ...facts, status: receipt.status },
    routing: { choice, executors: executorsOf(task), ...routing },
    receipt,
    ...(erased_at !== null && { erased: { erased_at, receipt_hash } }),
    signers,
    ...(nested_tasks.length > 0 && { nested_tasks }),
    ...(from !== undefined && { peer: from.peer }),
    ...money,
    ...(noShows.length > 0 && { no_shows: recordsOf(noShows) }),
    credential,
    received_at,
  };
}

/** The hash of what the choice was made of, and with it the record for those who may see it. */
async function inputsFor(
  read: Reader,
  { task_id, submitted_by }: TaskRow,
  caller: Caller,
): Promise<Pick<Evidence["routing"], "record_hash" | "record">> {
  const text = await decisionOf(read, task_id);
  if (text === undefined) return {};
  const record = JSON.parse(text) as RoutingRecord;
  const canonical = canonicalText(record);
  if (canonical === null) return {};
  const isShown =
    actsFor(caller, [submitted_by]) && canonical.length <= limits.evidenceRecordCharacters;
  return { record_hash: sha256Hex(canonical), ...(isShown && { record }) };
}

/** What peers say of their agents may have none. */
function canonicalText(record: RoutingRecord): string | null {
  try {
    return canonicalize(record);
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null;
    throw error;
  }
}

/** Of another relay's agent only the key is known that the task went out for. */
function workerOf({ workerId, publicKey }: TakenFrom, { submitted_at }: TaskRow): Signer {
  const key = { public_key: publicKey, valid_from: submitted_at, valid_until: null };
  return { agent_id: workerId, keys: [key], chain: [], devices: [] };
}

/** Whom the task could have come to, in turn, and at which price. */
function executorsOf(task: TaskRow): Evidence["routing"]["executors"] {
  return attemptsOf(task).map(({ agent_id, charge }) => ({
    agent_id,
    price: fromMicro(asMicro(charge)),
  }));
}

async function credentialFor(
  { storage }: EvidenceServices,
  taskId: string,
): Promise<VerifiableCredential | null> {
  const id = await credentialOfTask(storage.read, taskId);
  const row = id === undefined ? undefined : await findCredential(storage.read, id);
  return row === undefined ? null : documentOf(row);
}

/** A receipt may be nested as deep as JSON is taken, and inside a bundle it lies a level deeper. */
function signed(evidence: Evidence, relay: Voucher): EvidenceBundle | null {
  try {
    return signBundle(evidence, relay);
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null;
    throw error;
  }
}
