import { fromMicro, type Micro, toMicro } from "@agent/budget";
import { signJson } from "@agent/crypto";
import { checkReceivable, type PeerDebt } from "../settlement/clearing.ts";
import { computeMinPayment } from "../settlement/settlement-terms.ts";
import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { TaskForward, TaskPayload } from "../messages/task.ts";
import { listPassedRelays } from "./passed-hops.ts";
import { type FederationRefusal, type ForwardCode, refuse } from "../refusals.ts";

/** What a relay asks of the next one. */
export interface TaskForwardInput {
  readonly taskId: string;
  /** The sending relay, which is the one that pays. */
  readonly self: string;
  readonly to: string;
  readonly agentId: string;
  /** The worker's key as it was learned: a result under another one is refused. */
  readonly publicKey: string;
  readonly payload: TaskPayload;
  /** What the receiver will be paid. */
  readonly amount: Micro;
  readonly composite: number;
  readonly path: readonly string[];
  readonly expiresAt: number;
  /** Of a relay in the middle: the forward that it got, as it came, without `task_payload`. */
  readonly relayed?: Readonly<Record<string, unknown>> | undefined;
}

/** The signed body of task/forward at `now` (ms). */
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
      ...(input.relayed !== undefined && { relayed: input.relayed }),
    },
    secretKey,
  );
}

/** What the receiving relay knows when it is handed a task. */
export interface ForwardContext {
  /** Who signed the request. */
  readonly from: string;
  readonly self: string;
  readonly now: number;
  readonly lifetimeMs?: number;
  /** Whether any task of this relay has this id already. */
  readonly isDuplicate: boolean;
  /** The agent, if it is registered here and visible to peers, or reached by way of another relay. */
  readonly worker: {
    /** Its keys as 64 hex digits; null where nobody told. */
    readonly publicKeys: readonly string[] | null;
    /** The listed price for the asked capabilities; null where the agent does not sell them. */
    readonly price: Micro | null;
  } | null;
  /** By how many fees the payment may be less than the price (`countPassedHops`). */
  readonly hops: number;
  /** This relay's own rate, by which the payment is judged. */
  readonly feeRate: number;
  readonly clearing: PeerDebt;
}

/**
 * Whether a task is taken over from a peer, once `verifySignedMessage` has held its signature. To be
 * asked in the transaction that takes it. Refused: `federation.wrong_sender`,
 * `forward.duplicate`, `federation.timestamp_expired`, `forward.looped`, `forward.expired`,
 * `forward.agent_not_found`, `forward.key_mismatch`, `forward.not_offered`, `forward.underpaid`,
 * `clearing.limit_exceeded`.
 */
export function checkForward(
  forward: TaskForward,
  context: ForwardContext,
): { readonly ok: true; readonly amount: Micro } | FederationRefusal<ForwardCode> {
  const { now, worker, lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs } = context;
  const { timestamp = now, expires_at = Infinity, public_key, budget } = forward;
  if (forward.origin_relay !== context.from) return refuse("federation.wrong_sender");
  if (context.isDuplicate) return refuse("forward.duplicate");
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
  const credit = checkReceivable(context.clearing, amount);
  return credit.ok ? { ok: true, amount } : credit;
}
