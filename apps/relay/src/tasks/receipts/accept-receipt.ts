import { canonicalize, sha256Hex, unlessMalformed } from "@agent/crypto";
import {
  findSigningKey,
  parseReceipt,
  verifyReceiptAsync,
  type ExecutionReceipt,
} from "@agent/receipts";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { recordProofByReceipt } from "../../agents/keys/record-proof-by-signature.ts";
import type { PostRefusal } from "../../budget/post-movement.ts";
import { logSettlement } from "../../budget/record-settlement.ts";
import { findCredentialIdByTask } from "../../credentials/store.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { filterKeysForPeer } from "../../federation/inbound/filter-keys-for-peer.ts";
import { isFromPeer } from "../../federation/peer-ref.ts";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import { publishInspectionChanged } from "../../inspections/notify.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { isBlockStored } from "../../trust/is-block-stored.ts";
import { completeTask, type CompletedTask, type VerifiedReceipt } from "./complete-task.ts";
import { publishReputation, recordTaskOutcome } from "./record-task-outcome.ts";
import { isWithinDelegation } from "../submission/is-within-delegation.ts";
import {
  loadNestedReceipts,
  selectSettleableReceipts,
  type SettleableReceipt,
} from "./nested-receipts.ts";
import { listSignerKeys } from "./list-signer-keys.ts";
import { findAddressedTask } from "../find-addressed-task.ts";
import { markInvalidSignature, findTask } from "../store.ts";
import { executorOf, hasBegun, isForwarded, isExpired, isShutOut } from "../task.ts";

type PostResult = Operations["postResult"];

export interface SubmittedReceipt {
  /** The path's agent: the task's target. */
  readonly agentId: string;
  readonly taskId: string;
  /** The parsed receipt; `text` is the receipt as it arrived. */
  readonly value: unknown;
  readonly text: string;
  readonly caller: Caller;
  readonly saveResponse?: SaveResponse | undefined;
}

export type AcceptServices = Pick<
  Services,
  | "storage"
  | "runtime"
  | "config"
  | "log"
  | "identity"
  | "connections"
  | "waiters"
  | "subscriptions"
  | "trustGraph"
  | "federation"
  | "freezer"
>;

/** Codes that mean a faulty signature; the other refusals do not concern it. */
const VERIFICATION_FAILURE_CODES: ReadonlySet<string> = new Set([
  "receipt.suite",
  "receipt.key_missing",
  "receipt.signature_invalid",
]);

/**
 * Accepts a receipt: everything is verified first, nested receipts included, then one transaction
 * ends the task and settles it. A refused receipt changes nothing, and a correct one is still
 * accepted afterwards (docs/decisions.md, 4).
 */
export async function acceptReceipt(
  services: AcceptServices,
  { agentId, taskId, value, text, caller, saveResponse }: SubmittedReceipt,
): Promise<Answer<PostResult>> {
  const { storage, runtime, log } = services;
  const now = runtime.now();
  const task = await findAddressedTask(storage.read, { agentId, taskId }, now);
  if (task === undefined) return refuse("task.not_found");
  const executor = executorOf(task);
  if (isForwarded(task) || !mayActFor(caller, [executor, task.agent_id])) {
    return refuse("task.not_participant", "a result must come from the executor or the target");
  }

  const parsed = parseBoundedReceipt(value, task);
  if (!parsed.ok) return parsed;
  const { receipt, hash } = parsed;
  if (task.finished_at !== null) return answerFinishedTask(services, task, hash);
  if (isShutOut(task, executor, services.trustGraph)) return refuseBlocked();

  const isExecutor = receipt.agent_id === executor;
  // The receipt of another agent gets no keys, so its verification fails before the signature.
  const times = {
    submittedAt: task.submitted_at,
    completedAt: receipt.completed_at,
    receivedAt: now,
  };
  const found = isExecutor ? await listSignerKeys(storage.read, receipt, times) : [];
  // Where money is held, an agent without a registered key proves nothing.
  const known = task.locked > 0 ? (found ?? []) : found;
  const keys = isFromPeer(task) ? await filterKeysForPeer(storage.read, taskId, known) : known;
  const nested = await loadNestedReceipts(services, receipt, now);
  const verdict = await verifyReceiptAsync(parsed, {
    publicKey: keys,
    taskId,
    prompt: task.prompt,
    now,
    findKeys: nested.keysOf,
  });
  if (!verdict.valid) {
    const isWrongAgent = !isExecutor && verdict.code === "receipt.key_missing";
    const code = isWrongAgent ? "receipt.wrong_agent" : verdict.code;
    const event = VERIFICATION_FAILURE_CODES.has(code)
      ? "receipt.verification_failed"
      : "receipt.refused";
    log.warn(event, { correlationId: taskId, code });
    logPromptMismatch(services, task, receipt, verdict.code);
    if (code === "receipt.signature_invalid")
      await recordInvalidSignature(services, task, executor, caller);
    return refuse(code);
  }
  if (!isWithinDelegation(task, receipt)) return refuse("receipt.out_of_scope");
  const isKeyRegistered = keys !== undefined;
  const publicKey = findSigningKey(receipt, keys);
  // The token of an agent that submits its own receipt has proven a key of the agent already.
  const isOwn = caller.kind === "agent" && caller.agentId === receipt.agent_id;
  if (isKeyRegistered && publicKey !== undefined && !isOwn)
    await recordProofByReceipt(services, { agent_id: receipt.agent_id, public_key: publicKey });
  const endedBy = { kind: "receipt", isKeyRegistered } as const;
  const settleable = selectSettleableReceipts(services, taskId, nested, {
    receipt,
    verdict,
    isKeyRegistered,
  });
  const verified: VerifiedReceipt = { receipt, hash, text, endedBy, publicKey };
  return storeReceipt(services, task, verified, settleable, saveResponse);
}

function parseBoundedReceipt(value: unknown, task: TaskRow) {
  const parsed = parseReceipt(value);
  if (!parsed.ok) return refuse(parsed.code, `${parsed.path} ${parsed.message}`.trim());
  if (Buffer.byteLength(parsed.receipt.result) > limits.resultBytes) {
    return refuse("receipt.malformed", `result must be at most ${limits.resultBytes} bytes`);
  }
  if (isFromPeer(task) && !fitsMessage(parsed.receipt)) {
    const rule = `must be less than ${limits.jsonDepth} levels deep, because another relay pays for it`;
    return refuse("receipt.malformed", rule);
  }
  return parsed;
}

/** Whether the message to the relay of the task can hold the receipt, which is one level deeper there. */
function fitsMessage(receipt: ExecutionReceipt): boolean {
  return unlessMalformed(() => canonicalize({ receipt })) !== undefined;
}

/** Returns the first answer again for the identical receipt; any other one is too late. */
async function answerFinishedTask(
  { storage }: AcceptServices,
  task: TaskRow,
  hash: string,
): Promise<Answer<PostResult>> {
  if (task.receipt_hash !== hash) return refuse("task.already_finished");
  const credential_id = await findCredentialIdByTask(storage.read, task.task_id);
  return { status: 200, body: { status: task.status, credential_id } };
}

async function storeReceipt(
  services: AcceptServices,
  task: TaskRow,
  verified: VerifiedReceipt,
  nested: readonly SettleableReceipt[],
  saveResponse: SaveResponse | undefined,
): Promise<Answer<PostResult>> {
  const { storage, runtime, log } = services;
  const { task_id: taskId } = task;
  const { agent_id, status } = verified.receipt;
  const done = await storage.transaction(async (tx) => {
    // The stored block decides, as for a claim, because another process may have stored it.
    if (!hasBegun(task, agent_id) && (await isBlockStored(tx, task.submitted_by, agent_id))) {
      return refuseBlocked();
    }
    const outer = await completeTask(tx, services, task, verified);
    if (!outer.ok) return outer;
    const all: [CompletedTask, ...CompletedTask[]] = [outer];
    for (const settleable of nested) {
      const inner = await completeTask(tx, services, settleable.task, settleable.verified);
      if (inner.ok) all.push(inner);
      // The sub-agent has delivered this receipt itself, so its task is complete.
      else if (inner.code !== "task.already_finished") return inner;
    }
    const [{ reputationUpdate }] = all;
    const issued = reputationUpdate.credentials.find(({ task_id }) => task_id === taskId);
    const answer = { status: 200 as const, body: { status, credential_id: issued?.credential_id } };
    await saveResponse?.(tx, answer);
    return { ok: true as const, all, answer };
  }, "together");
  if (!done.ok) {
    if (done.code === "task.not_participant") return done;
    if (done.code !== "task.already_finished") return toMoneyRefusal(done);
    const current = await findTask(storage.read, taskId);
    if (current === undefined || isExpired(current, runtime.now())) return refuse("task.not_found");
    // The task is still open, so it was reassigned while this receipt was verified.
    return current.finished_at === null
      ? refuse("receipt.wrong_agent")
      : answerFinishedTask(services, current, verified.hash);
  }
  log.info("receipt.verified", { correlationId: taskId, agent_id, status });
  for (const each of done.all) publishCompletion(services, each);
  if (isFromPeer(task)) services.federation?.wake();
  return done.answer;
}

function refuseBlocked() {
  return refuse(
    "task.not_participant",
    "the submitter blocked the executor before it claimed the task",
  );
}

/** A hold that does not cover its own charge is a bug, never an answer. */
function toMoneyRefusal({ code }: PostRefusal) {
  if (code === "money.balance_limit") return refuse(code);
  throw new Error("hold does not cover its settlement");
}

function publishCompletion(
  services: AcceptServices,
  { task, settlement, reputationUpdate, inspection }: CompletedTask,
): void {
  services.waiters.notify(task.task_id);
  if (inspection !== undefined) publishInspectionChanged(services, inspection);
  publishReputation(services, task.task_id, reputationUpdate);
  if (settlement !== undefined) logSettlement(services.log, settlement);
}

/**
 * Logs the event that the specification names for another prompt's hash on a receipt without a task
 * id.
 */
function logPromptMismatch(
  { log }: AcceptServices,
  task: TaskRow,
  receipt: ExecutionReceipt,
  code: string,
): void {
  if (code !== "receipt.task_mismatch" || receipt.relay_task_id !== undefined) return;
  if (sha256Hex(task.prompt) === receipt.prompt_hash) return;
  log.warn("receipt.prompt_hash_mismatch", { correlationId: task.task_id });
}

/** Counts an invalid signature that the executor itself submitted as one failed task, once. */
async function recordInvalidSignature(
  services: AcceptServices,
  task: TaskRow,
  executorId: string,
  caller: Caller,
): Promise<void> {
  if (caller.kind !== "agent" || caller.agentId !== executorId) return;
  const reputationUpdate = await services.storage.transaction(async (tx) =>
    (await markInvalidSignature(tx, task.task_id))
      ? recordTaskOutcome(tx, services, task, { executorId, status: "failed" })
      : undefined,
  );
  if (reputationUpdate !== undefined) publishReputation(services, task.task_id, reputationUpdate);
}
