import { canonicalize } from "@agent/crypto";
import {
  flattenChain,
  getVerdictAt,
  type ChainLink,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import { checkNestedReceipt, type NestedTask } from "@agent/federation-protocol";
import { isFromPeer } from "../../federation/peer-ref.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import type { VerifiedReceipt } from "./complete-task.ts";
import { isWithinDelegation } from "../submission/delegated-submission.ts";
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

/** Looks up what the verification of nested receipts needs, before any of it is judged. */
export async function loadNestedReceipts(
  { storage }: Pick<Services, "storage">,
  receipt: ExecutionReceipt,
  now: number,
): Promise<NestedReceipts> {
  const { links, depthLimited } = flattenChain(receipt);
  const list = await Promise.all(
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
  const keys = new Map(list.map((hop) => [hop.link.receipt, hop.keys]));
  return { entries: list, depthLimited, keysOf: (inner) => keys.get(inner) };
}

/** A hop that this receipt settles: its own task, ended by its own transaction step. */
export interface SettleableReceipt {
  readonly task: TaskRow;
  readonly verified: VerifiedReceipt;
}

/**
 * The hops that settle here: verified under keys of the registry all the way down, and their task was
 * submitted by the agent one hop up, given to an agent of this relay, and is still open
 * (docs/decisions.md, 5). Every other one is named in the log.
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
  const areKeysRegistered = collectRegistered(outer, nested);
  return nested.entries.flatMap(({ link, task }) => {
    const { receipt, parent, path } = link;
    const verdict = getVerdictAt(outer.verdict, path);
    // Under a refused receipt nothing was judged, and nobody vouches for it.
    if (verdict === undefined) return [];
    const hop = { ...fields, agent_id: receipt.agent_id, nested_task_id: receipt.task_id };
    if (!verdict.valid) {
      log.warn("delegation_receipt.signature_invalid", { ...hop, code: verdict.code });
      log.warn("multihop.settlement.sig_invalid", hop);
      return [];
    }
    const { hash } = verdict;
    // The usual case: the sub-agent delivered it itself.
    if (task?.receipt_hash === hash) return [];
    const checked = checkNestedReceipt(
      task === undefined ? null : toNestedTask(task, runtime.now()),
      {
        taskId: receipt.task_id,
        agentId: receipt.agent_id,
        parentAgentId: parent.agent_id,
        areKeysRegistered: areKeysRegistered.has(receipt),
      },
    );
    if (task === undefined || !checked.ok) {
      const code = checked.ok ? undefined : checked.code;
      const isKeyless = code === "nested.key_missing";
      log.warn(`multihop.settlement.${isKeyless ? "sig_invalid" : "task_not_found"}`, {
        ...hop,
        code,
      });
      return [];
    }
    if (!isWithinDelegation(task, receipt)) {
      log.warn("multihop.settlement.out_of_scope", hop);
      return [];
    }
    const endedBy = { kind: "receipt", isKeyRegistered: true } as const;
    return [{ task, verified: { receipt, hash, text: canonicalize(receipt), endedBy } }];
  });
}

function toNestedTask(task: TaskRow, now: number): NestedTask {
  return {
    taskId: task.task_id,
    submittedBy: task.submitted_by,
    executor: executorOf(task),
    isOpen: isOpen(task, now),
    peerId: task.via_peer,
    isFromPeer: isFromPeer(task),
  };
}

/** The receipts down to which the registry knows the key of every signature, the outermost included. */
function collectRegistered(
  outer: { readonly receipt: ExecutionReceipt; readonly isKeyRegistered: boolean },
  { entries: list }: NestedReceipts,
): ReadonlySet<ExecutionReceipt> {
  const registered = new Set(outer.isKeyRegistered ? [outer.receipt] : []);
  // A receipt stands in the list after the one that carries it.
  for (const { link, keys } of list) {
    if (keys !== undefined && registered.has(link.parent)) registered.add(link.receipt);
  }
  return registered;
}

/** What is no receipt at all stands in the verdict and in no hop. */
function collectMalformedCodes({ nested }: ReceiptVerdict): string[] {
  return nested.flatMap((inner) =>
    inner.code === "receipt.malformed" ? [inner.code] : collectMalformedCodes(inner),
  );
}
