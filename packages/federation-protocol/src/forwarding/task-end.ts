/** A task as far as its end depends on other relays. */
export interface EndableTask {
  /** The peer that the task is with, or that it is to go to; null for a task that stays here. */
  readonly peerId: string | null;
  /** What is held for it, in micro-units. */
  readonly locked: number;
}

/**
 * Who brings the end of a task: a receipt that was delivered to this relay, alone or nested, or a
 * peer, by its verified result or by its agreement to a cancellation. Expiry needs no permission.
 */
export type EndedBy =
  | {
      readonly kind: "receipt";
      /** Whether the registry binds the key of the signature to the agent that it names. */
      readonly isKeyRegistered: boolean;
    }
  | { readonly kind: "peer"; readonly relayId: string };

/**
 * Whether a task may be ended in this way. A task that is with a peer is ended by that peer only: any
 * receipt for it that is delivered here may be of its delegator's making. A hold moves only under a
 * key of the registry.
 */
export function canEndTask({ peerId, locked }: EndableTask, endedBy: EndedBy): boolean {
  if (endedBy.kind === "peer") return peerId === endedBy.relayId;
  return peerId === null && (endedBy.isKeyRegistered || locked === 0);
}

/** The task that a nested receipt names, as its relay knows it. */
export interface NestedTask extends Pick<EndableTask, "peerId"> {
  readonly taskId: string;
  /** The agent, or the payer of another kind, that submitted it. */
  readonly submittedBy: string | null;
  readonly executor: string;
  readonly isOpen: boolean;
  /** Whether a peer handed it to this relay. */
  readonly isFromPeer: boolean;
}

/** A nested receipt whose signature holds, and the one around it. */
export interface NestedReceipt {
  readonly taskId: string;
  readonly agentId: string;
  /** The agent of the receipt that carries this one. */
  readonly parentAgentId: string;
  /** Whether keys of the registry made every signature from the outermost receipt down to this one. */
  readonly areKeysRegistered: boolean;
}

export type NestedRefusal =
  | "nested.task_not_found"
  | "nested.task_with_peer"
  | "nested.key_missing";

/**
 * Whether a nested receipt ends the task that it names; a refused one stays evidence. Refused:
 * `nested.task_not_found` (no open task of this relay that fits), `nested.task_with_peer` (forwarded,
 * or taken from a peer), `nested.key_missing`.
 */
export function checkNestedReceipt(
  task: NestedTask | null,
  receipt: NestedReceipt,
): { readonly ok: true } | { readonly ok: false; readonly code: NestedRefusal } {
  const matches =
    task !== null &&
    task.isOpen &&
    task.taskId === receipt.taskId &&
    task.executor === receipt.agentId &&
    (task.isFromPeer || task.submittedBy === receipt.parentAgentId);
  if (!matches) return { ok: false, code: "nested.task_not_found" };
  if (task.peerId !== null || task.isFromPeer) return { ok: false, code: "nested.task_with_peer" };
  if (!receipt.areKeysRegistered) return { ok: false, code: "nested.key_missing" };
  return { ok: true };
}
