import {
  flattenChain,
  parseReceipt,
  verifyReceiptAsync,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import type { Received, Task } from "@agent/wire";
import type { TaskView } from "../await-task.ts";
import { fetchExecutorKeys, type Signer } from "./fetch-executor-keys.ts";
import { refusal, type CallRefusal } from "../calls/refusal.ts";
import type { RelayClient } from "../relay-client.ts";
import type { RetryOptions } from "../calls/retry.ts";

// Each signer costs a lookup. Receipts of further signers stay unverified, which the verdict reports.
const MAX_NESTED_SIGNERS = 32;

/** Codes that make a receipt worthless to the delegator although its signature is valid. */
const MISMATCH_CODES: ReadonlySet<string | undefined> = new Set([
  "receipt.prompt_hash_mismatch",
  "receipt.result_hash_mismatch",
]);

/** A task with its verified receipt. */
export interface ProvenResult {
  readonly ok: true;
  readonly receipt: ExecutionReceipt;
  readonly verdict: ReceiptVerdict;
  readonly task: Received<typeof Task>;
}

/**
 * A refusal, with the verdict on the receipt and, if it could be read but does not prove the work, the
 * receipt itself.
 */
export interface UnprovenResult extends CallRefusal {
  readonly verdict?: ReceiptVerdict;
  readonly unprovenReceipt?: ExecutionReceipt;
}

/** A result whose receipt was verified, or the refusal. */
export type CheckedResult = ProvenResult | UnprovenResult;

export interface ExpectedResult {
  readonly taskId: string;
  readonly prompt: string;
  /** The executor's keys if they are known in advance; otherwise they are read from the relay. */
  readonly executorKeys: readonly string[] | undefined;
}

/**
 * Verifies a finished task's receipt: it must be signed by the task's target or executor with its own key,
 * for this task, this prompt and this result. Refused with `task.cancelled`, `task.erased`,
 * `receipt.missing`, `receipt.wrong_agent`, a code of `@agent/receipts`, or like the lookup of a key. Each
 * nested receipt has its own verdict in `verdict.nested`.
 */
export async function checkResult(
  client: RelayClient,
  { task, receipt: received }: TaskView,
  expected: ExpectedResult,
  retryOptions: RetryOptions,
): Promise<CheckedResult> {
  if (task.erased_at !== undefined) {
    return refusal("task.erased", "The texts of the task were replaced by their hashes");
  }
  if (received === null) {
    const code = task.status === "cancelled" ? "task.cancelled" : "receipt.missing";
    return refusal(code, `Task is ${task.status} without a receipt`);
  }
  const parsed = parseReceipt(received);
  if (!parsed.ok) return refusal(parsed.code, `Receipt: ${parsed.path} ${parsed.message}`);
  const { receipt } = parsed;
  if (receipt.agent_id !== task.agent_id && receipt.agent_id !== task.assigned_to) {
    return refusal(
      "receipt.wrong_agent",
      "Receipt agent_id must be the target or the executor of the task",
    );
  }
  const keys =
    expected.executorKeys === undefined
      ? await fetchExecutorKeys(client, receipt, retryOptions)
      : { ok: true as const, keys: expected.executorKeys };
  if (!keys.ok) return keys;
  const nestedKeys = await fetchNestedKeys(client, receipt, retryOptions);
  const verdict = await verifyReceiptAsync(parsed, {
    publicKey: keys.keys,
    taskId: expected.taskId,
    prompt: expected.prompt,
    now: retryOptions.environment.now(),
    findKeys: (nested) => nestedKeys.get(buildSignerName(nested)) ?? [],
  });
  const mismatch = verdict.checks.find((check) => MISMATCH_CODES.has(check.code));
  const code = verdict.code ?? mismatch?.code;
  if (code !== undefined) {
    return {
      ...refusal(code, "Receipt does not prove the work"),
      verdict,
      unprovenReceipt: receipt,
    };
  }
  return { ok: true, receipt, verdict, task };
}

/** Fetches the keys of the signers of nested receipts; a signer whose lookup fails has none. */
async function fetchNestedKeys(
  client: RelayClient,
  receipt: ExecutionReceipt,
  retryOptions: RetryOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const signers = new Map<string, Signer>();
  for (const { receipt: nested } of flattenChain(receipt).links)
    signers.set(buildSignerName(nested), nested);
  const lookups = [...signers].slice(0, MAX_NESTED_SIGNERS).map(async ([name, signer]) => {
    const found = await fetchExecutorKeys(client, signer, retryOptions);
    return [name, found.ok ? found.keys : []] as const;
  });
  return new Map(await Promise.all(lookups));
}

function buildSignerName({ agent_id, device_id }: Signer): string {
  return `${agent_id} ${device_id}`;
}
