/** The members of a task that decide how it may end. */
export interface EndableTask {
  /** The peer that has the task or will get it; null for a task that stays here. */
  readonly peerId: string | null;
  /** The amount that is held for it, in micro-units. */
  readonly locked: number;
}

/**
 * The cause of a task's end: a receipt delivered to this relay, alone or nested, or a peer, by its verified
 * result or its consent to a cancellation. Expiry needs no permission.
 */
export type EndedBy =
  | {
      readonly kind: "receipt";
      /** Whether the registry binds the key of the signature to the agent that it names. */
      readonly isKeyRegistered: boolean;
    }
  | { readonly kind: "peer"; readonly relayId: string };

/**
 * Returns whether a task may end in this way. A task that a peer has may be ended only by that peer,
 * because its delegator could have fabricated the receipt that is delivered here. A hold is moved only
 * under a key of the registry.
 */
export function canEndTask({ peerId, locked }: EndableTask, endedBy: EndedBy): boolean {
  if (endedBy.kind === "peer") return peerId === endedBy.relayId;
  return peerId === null && (endedBy.isKeyRegistered || locked === 0);
}

/** The task that a nested receipt names, as stored at its relay. */
export interface RecordedTask extends Pick<EndableTask, "peerId"> {
  readonly taskId: string;
  /** The agent, or another payer, that submitted it. */
  readonly submittedBy: string | null;
  readonly executor: string;
  readonly isOpen: boolean;
  /** Whether a peer forwarded it to this relay. */
  readonly isFromPeer: boolean;
}

/** A nested receipt with a valid signature, and the receipt that contains it. */
export interface NestedReceipt {
  readonly taskId: string;
  readonly agentId: string;
  /** The agent of the receipt that carries this one. */
  readonly parentAgentId: string;
  /**
   * Whether every signature from the outermost receipt down to this one was made with a key of the
   * registry.
   */
  readonly areKeysRegistered: boolean;
}

/** The codes with which a receipt inside a result is refused. */
export type NestedRefusal =
  | "nested.task_not_found"
  | "nested.task_with_peer"
  | "nested.key_missing";

/**
 * Checks whether a nested receipt ends the task that it names; a refused one remains evidence.
 * Refused: `nested.task_not_found` (no matching open task of this relay), `nested.task_with_peer`
 * (forwarded to or received from a peer), `nested.key_missing`.
 */
export function checkNestedReceipt(
  task: RecordedTask | null,
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
