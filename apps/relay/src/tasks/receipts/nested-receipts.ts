import { canonicalize } from "@agent/crypto";
import {
  findSigningKey,
  flattenChain,
  getVerdictAt,
  type ChainLink,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import { checkNestedReceipt, type RecordedTask } from "@agent/federation-protocol/forwarding";
import { isFromPeer } from "../../federation/peer-ref.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import type { VerifiedReceipt } from "./complete-task.ts";
import { isWithinDelegation } from "../submission/is-within-delegation.ts";
import { listSignerKeys, type SignerKeys } from "./list-signer-keys.ts";
import { findTask } from "../store.ts";
import { executorOf, isOpen } from "../task.ts";

/** A nested receipt with the task of this relay that it names and the keys of its agent. */
interface NestedEntry {
  readonly link: ChainLink;
  readonly task: TaskRow | undefined;
  readonly keys: SignerKeys;
}

export interface NestedReceipts {
  readonly entries: readonly NestedEntry[];
  readonly depthLimited: boolean;
  readonly keysOf: (receipt: ExecutionReceipt) => SignerKeys;
}

/** Loads the data for the verification of nested receipts, before any of them is verified. */
export async function loadNestedReceipts(
  { storage }: Pick<Services, "storage">,
  receipt: ExecutionReceipt,
  now: number,
): Promise<NestedReceipts> {
  const { links, depthLimited } = flattenChain(receipt);
  const entries = await Promise.all(
    links.map(async (link): Promise<NestedEntry> => {
      const { relay_task_id } = link.receipt;
      const task =
        relay_task_id === undefined ? undefined : await findTask(storage.read, relay_task_id);
      const keys = await listSignerKeys(storage.read, link.receipt, {
        submittedAt: task?.submitted_at ?? now,
        completedAt: link.receipt.completed_at,
        receivedAt: now,
      });
      return { link, task, keys };
    }),
  );
  const keys = new Map(entries.map((entry) => [entry.link.receipt, entry.keys]));
  return { entries, depthLimited, keysOf: (inner) => keys.get(inner) };
}

/** A nested receipt that ends and settles the task that it names, in the transaction of the outer receipt. */
export interface SettleableReceipt {
  readonly task: TaskRow;
  readonly verified: VerifiedReceipt;
}

/**
 * Selects the nested receipts that are settled here: all receipts above them are verified with registered
 * keys, and their task was submitted by the agent whose receipt contains them, is assigned to an agent of
 * this relay, and is still open (docs/decisions.md, 5). The others are logged.
 */
export function selectSettleableReceipts(
  { log, runtime }: Pick<Services, "log" | "runtime">,
  outerTaskId: string,
  nested: NestedReceipts,
  outer: {
    readonly receipt: ExecutionReceipt;
    readonly verdict: ReceiptVerdict;
    readonly isKeyRegistered: boolean;
  },
): SettleableReceipt[] {
  const fields = { correlationId: outerTaskId };
  if (nested.depthLimited) log.warn("multihop.settlement.depth_limit", fields);
  for (const code of collectMalformedCodes(outer.verdict)) {
    log.warn("delegation_receipt.signature_invalid", { ...fields, code });
  }
  const registeredReceipts = collectRegistered(outer, nested);
  return nested.entries.flatMap(({ link, task, keys }) => {
    const { receipt, parent, path } = link;
    const verdict = getVerdictAt(outer.verdict, path);
    // Below a refused receipt nothing was verified.
    if (verdict === undefined) return [];
    const logFields = { ...fields, agent_id: receipt.agent_id, nested_task_id: receipt.task_id };
    if (!verdict.valid) {
      log.warn("delegation_receipt.signature_invalid", { ...logFields, code: verdict.code });
      log.warn("multihop.settlement.sig_invalid", logFields);
      return [];
    }
    const { hash } = verdict;
    // In the usual case the sub-agent has delivered it itself.
    if (task?.receipt_hash === hash) return [];
    const checked = checkNestedReceipt(
      task === undefined ? null : toRecordedTask(task, runtime.now()),
      {
        taskId: receipt.task_id,
        agentId: receipt.agent_id,
        parentAgentId: parent.agent_id,
        areKeysRegistered: registeredReceipts.has(receipt),
      },
    );
    if (task === undefined || !checked.ok) {
      const code = checked.ok ? undefined : checked.code;
      const isKeyless = code === "nested.key_missing";
      log.warn(`multihop.settlement.${isKeyless ? "sig_invalid" : "task_not_found"}`, {
        ...logFields,
        code,
      });
      return [];
    }
    if (!isWithinDelegation(task, receipt)) {
      log.warn("multihop.settlement.out_of_scope", logFields);
      return [];
    }
    const endedBy = { kind: "receipt", isKeyRegistered: true } as const;
    const publicKey = findSigningKey(receipt, keys);
    return [{ task, verified: { receipt, hash, text: canonicalize(receipt), endedBy, publicKey } }];
  });
}

function toRecordedTask(task: TaskRow, now: number): RecordedTask {
  return {
    taskId: task.task_id,
    submittedBy: task.submitted_by,
    executor: executorOf(task),
    isOpen: isOpen(task, now),
    peerId: task.via_peer,
    isFromPeer: isFromPeer(task),
  };
}

/**
 * Collects the receipts down to which every signer has a registered key, the outermost included.
 */
function collectRegistered(
  outer: { readonly receipt: ExecutionReceipt; readonly isKeyRegistered: boolean },
  { entries }: NestedReceipts,
): ReadonlySet<ExecutionReceipt> {
  const registered = new Set(outer.isKeyRegistered ? [outer.receipt] : []);
  // A receipt follows the one that carries it in the list.
  for (const { link, keys } of entries) {
    if (keys !== undefined && registered.has(link.parent)) registered.add(link.receipt);
  }
  return registered;
}

/** A value that is not a receipt has a verdict, but no entry. */
function collectMalformedCodes({ nested }: ReceiptVerdict): string[] {
  return nested.flatMap((inner) =>
    inner.code === "receipt.malformed" ? [inner.code] : collectMalformedCodes(inner),
  );
}
