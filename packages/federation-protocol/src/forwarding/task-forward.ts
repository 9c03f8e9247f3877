import { fromMicro, type Micro, toMicro } from "@agent/budget";
import { signJson } from "@agent/crypto";
import { checkTaskDepth } from "@agent/routing-semiring";
import { checkReceivable, type PeerDebt } from "../settlement/credit-limit.ts";
import { computeMinPayment } from "../settlement/settlement-terms.ts";
import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { TaskForward, TaskPayload } from "../messages/task.ts";
import { listPassedRelays } from "./passed-hops.ts";
import { type FederationRefusal, type ForwardCode, refuse } from "../refusals.ts";

/** The values from which a forward to the next relay is built. */
export interface TaskForwardInput {
  readonly taskId: string;
  /** The sending relay, which pays for the task. */
  readonly self: string;
  readonly to: string;
  readonly agentId: string;
  /** The executor's known key; a result under another key is refused. */
  readonly publicKey: string;
  readonly payload: TaskPayload;
  /** The amount that the receiver will be paid. */
  readonly amount: Micro;
  readonly composite: number;
  readonly path: readonly string[];
  /** The end of the task in ms since the epoch, by the sender's clock. */
  readonly expiresAt: number;
  /** The number of tasks above this one in the chain of parents; 0 by default. */
  readonly depth?: number;
  /** At an intermediate relay: the received forward, with all members except `task_payload`. */
  readonly relayed?: Readonly<Record<string, unknown>> | undefined;
}

/** Creates the signed body of task/forward at `now`, in ms since the epoch by the sender's clock. */
export function createTaskForward(
  input: TaskForwardInput,
  { secretKey, now }: { readonly secretKey: Uint8Array; readonly now: number },
): TaskForward {
  return signJson(
    {
      task_id: input.taskId,
      origin_relay: input.self,
      target_agent: input.agentId,
      task_payload: input.payload,
      budget: { amount: fromMicro(input.amount), currency: "USD" as const },
      routing_choice: { composite: input.composite, path: [...input.path] },
      public_key: input.publicKey,
      expires_at: input.expiresAt,
      timestamp: now,
      to: input.to,
      ...(input.depth !== undefined && input.depth > 0 && { depth: input.depth }),
      ...(input.relayed !== undefined && { relayed: input.relayed }),
    },
    secretKey,
  );
}

/** The receiving relay's view of a forwarded task. */
export interface ForwardContext {
  /** The relay that signed the request. */
  readonly from: string;
  readonly self: string;
  /** In ms since the epoch, by this relay's clock. */
  readonly now: number;
  /** The maximum age of the body, in ms; 5 minutes by default. */
  readonly lifetimeMs?: number;
  /**
   * The owner of an existing task with this id; null if the id is free. If nothing is known of the id
   * except that it was used, it counts as the sender's, which then waits for the end of its task.
   */
  readonly idOwner: "sender" | "other" | null;
  /**
   * The agent, if it is registered here and visible to peers, or reachable through another relay.
   */
  readonly worker: {
    /** Its keys as 64 hex digits; null if they are not known. */
    readonly publicKeys: readonly string[] | null;
    /** The listed price for the requested capabilities; null if the agent does not offer them. */
    readonly price: Micro | null;
  } | null;
  /** The number of relay fees by which the payment may be below the price (`countPassedHops`). */
  readonly hops: number;
  /** This relay's own fee rate, by which the payment is checked. */
  readonly feeRate: number;
  readonly clearing: PeerDebt;
}

/**
 * Checks whether a task is accepted from a peer, after `verifySignedMessage` has verified it. Must
 * run in the transaction that accepts it. Refused: `federation.wrong_sender`, `forward.id_taken`,
 * `forward.duplicate`, `federation.timestamp_expired`, `forward.looped`, `forward.expired`,
 * `forward.agent_not_found`, `forward.key_mismatch`, `forward.not_offered`, `forward.underpaid`,
 * `task.too_deep`, `clearing.limit_exceeded`.
 */
export function checkForward(
  forward: TaskForward,
  context: ForwardContext,
): { readonly ok: true; readonly amount: Micro } | FederationRefusal<ForwardCode> {
  const { now, worker, lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs } = context;
  const { timestamp = now, expires_at = Infinity, public_key, budget } = forward;
  if (forward.origin_relay !== context.from) return refuse("federation.wrong_sender");
  if (context.idOwner === "other") return refuse("forward.id_taken");
  if (context.idOwner === "sender") return refuse("forward.duplicate");
  if (!isFresh(timestamp, now, lifetimeMs)) return refuse("federation.timestamp_expired");
  if (listPassedRelays(forward, context.from).includes(context.self))
    return refuse("forward.looped");
  if (expires_at <= now) return refuse("forward.expired");
  if (worker === null) return refuse("forward.agent_not_found");
  if (public_key !== undefined && worker.publicKeys?.includes(public_key) === false) {
    return refuse("forward.key_mismatch");
  }
  if (worker.price === null) return refuse("forward.not_offered");
  const amount = toMicro(budget.amount);
  if (amount < computeMinPayment(worker.price, context.feeRate, context.hops)) {
    return refuse("forward.underpaid");
  }
  const depth = checkTaskDepth(forward.depth ?? 0);
  if (!depth.ok) return refuse(depth.code);
  const credit = checkReceivable(context.clearing, amount);
  return credit.ok ? { ok: true, amount } : credit;
}
