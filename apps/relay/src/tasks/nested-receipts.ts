import { canonicalize } from "@agent/crypto";
import {
  flattenChain,
  verdictAt,
  type ChainLink,
  type ExecutionReceipt,
  type ReceiptVerdict,
} from "@agent/receipts";
import { checkNestedReceipt, type NestedTask } from "@agent/federation-protocol";
import { isFromPeer } from "../federation/parties.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import type { Verified } from "./complete.ts";
import { keepsToToken } from "./delegated.ts";
import { signerKeys, type SignerKeys } from "./signer-keys.ts";
import { findTask } from "./store.ts";
import { executorOf, isOpen, peerOf } from "./view.ts";

/** A nested receipt with the task of this relay that it names and the keys of its agent. */
interface Hop {
  readonly link: ChainLink;
  readonly task: TaskRow | undefined;
  readonly keys: SignerKeys;
}

export interface Hops {
  readonly list: readonly Hop[];
  readonly depthLimited: boolean;
  readonly keysOf: (receipt: ExecutionReceipt) => SignerKeys;
}

/** Looks up what the verification of nested receipts needs, before any of it is judged. */
export async function loadHops(
  { storage }: Pick<Services, "storage">,
  receipt: ExecutionReceipt,
  now: number,
): Promise<Hops> {
  const { links, depthLimited } = flattenChain(receipt);
  const list = await Promise.all(
    links.map(async (link): Promise<Hop> => {
      const { relay_task_id } = link.receipt;
      const task =
        relay_task_id === undefined ? undefined : await findTask(storage.read, relay_task_id);
      const keys = await signerKeys(storage.read, link.receipt, {
        submittedAt: task?.submitted_at ?? now,
        completedAt: link.receipt.completed_at,
        receivedAt: now,
      });
      return { link, task, keys };
    }),
  );
  const keys = new Map(list.map((hop) => [hop.link.receipt, hop.keys]));
  return { list, depthLimited, keysOf: (inner) => keys.get(inner) };
}

/** A hop that this receipt settles: its own task, ended by its own transaction step. */
export interface SettleableHop {
  readonly task: TaskRow;
  readonly verified: Verified;
}

/**
 * The hops that settle here: verified under keys of the registry all the way down, and their task was
 * submitted by the agent one hop up, given to an agent of this relay, and is still open
 * (docs/decisions.md, 5). Every other one is named in the log.
 */
export function settleableHops(
  { log, runtime }: Pick<Services, "log" | "runtime">,
  outerTaskId: string,
  hops: Hops,
  outer: {
    readonly receipt: ExecutionReceipt;
    readonly verdict: ReceiptVerdict;
    readonly isKeyRegistered: boolean;
  },
): SettleableHop[] {
  const fields = { correlationId: outerTaskId };
  if (hops.depthLimited) log.warn("multihop.settlement.depth_limit", fields);
  for (const code of malformedIn(outer.verdict)) {
    log.warn("delegation_receipt.signature_invalid", { ...fields, code });
  }
  const areKeysRegistered = registeredDownTo(outer, hops);
  return hops.list.flatMap(({ link, task }) => {
    const { receipt, parent, path } = link;
    const judged = verdictAt(outer.verdict, path);
    // Under a refused receipt nothing was judged, and nobody vouches for it.
    if (judged === undefined) return [];
    const hop = { ...fields, agent_id: receipt.agent_id, nested_task_id: receipt.task_id };
    if (!judged.valid) {
      log.warn("delegation_receipt.signature_invalid", { ...hop, code: judged.code });
      log.warn("multihop.settlement.sig_invalid", hop);
      return [];
    }
    const { hash } = judged;
    // The usual case: the sub-agent delivered it itself.
    if (task?.receipt_hash === hash) return [];
    const checked = checkNestedReceipt(
      task === undefined ? null : nestedTask(task, runtime.now()),
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
    if (!keepsToToken(task, receipt)) {
      log.warn("multihop.settlement.out_of_scope", hop);
      return [];
    }
    const endedBy = { kind: "receipt", isKeyRegistered: true } as const;
    return [{ task, verified: { receipt, hash, text: canonicalize(receipt), endedBy } }];
  });
}

function nestedTask(task: TaskRow, now: number): NestedTask {
  return {
    taskId: task.task_id,
    submittedBy: task.submitted_by,
    executor: executorOf(task),
    isOpen: isOpen(task, now),
    peerId: peerOf(task),
    isFromPeer: isFromPeer(task),
  };
}

/** The receipts down to which the registry knows the key of every signature, the outermost included. */
function registeredDownTo(
  outer: { readonly receipt: ExecutionReceipt; readonly isKeyRegistered: boolean },
  { list }: Hops,
): ReadonlySet<ExecutionReceipt> {
  const registered = new Set(outer.isKeyRegistered ? [outer.receipt] : []);
  // A receipt stands in the list after the one that carries it.
  for (const { link, keys } of list) {
    if (keys !== undefined && registered.has(link.parent)) registered.add(link.receipt);
  }
  return registered;
}

/** What is no receipt at all stands in the verdict and in no hop. */
function malformedIn({ nested }: ReceiptVerdict): string[] {
  return nested.flatMap((inner) =>
    inner.code === "receipt.malformed" ? [inner.code] : malformedIn(inner),
  );
}
