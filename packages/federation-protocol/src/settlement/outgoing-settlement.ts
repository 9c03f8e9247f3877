import { asMicro, type Micro } from "@agent/budget";
import type { OutboundTask } from "../forwarding/outbound-task.ts";
import type { SettlementTerms } from "./settlement-terms.ts";

/** The states of the specification ("Federated settlement forward"). */
export type SettlementState = "pending" | "completed" | "failed";

/**
 * The result of a settlement: `paid` if the peer booked it, `refunded` if the payer has its money back,
 * `held` if the operator must decide.
 */
export type Resolution = "paid" | "refunded" | "held";

/**
 * A settlement that this relay owes a peer, stored until the peer confirms it or it is given up. Times are
 * in ms since the epoch, by this relay's clock.
 */
export interface OutgoingSettlement {
  readonly settlementId: string;
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  readonly receiptHash: string;
  readonly terms: SettlementTerms;
  /** The time at which this settlement was created. */
  readonly settledAt: number;
  /** False at an intermediate relay, which was paid for the task and has no payer to refund. */
  readonly refundable: boolean;
  readonly state: SettlementState;
  readonly resolution: Resolution | null;
  /** The number of attempts in all rounds. */
  readonly attempts: number;
  /** The number of attempts that certainly did not reach the peer. */
  readonly unreached: number;
  /** The number of finished rounds; a round is one run through the schedule. */
  readonly rounds: number;
  readonly attemptsInRound: number;
  /** Null before the first attempt. */
  readonly lastAttemptAt: number | null;
  /** `asking`: the attempts are over, and the peer is asked whether it booked one of them. */
  readonly phase: "forwarding" | "asking";
  readonly asks: number;
  /** When to make the next attempt or request; null if there is none. */
  readonly dueAt: number | null;
  /** The payment that the task was submitted with at its origin. */
  readonly x402?: X402Reference;
}

/** An on-chain payment: its transaction hash and the chain in CAIP-2 form. */
export interface X402Reference {
  readonly txHash: string;
  readonly network: string;
}

/** Creates the settlement of a completed task, which must be sent at once. */
export function createOutgoingSettlement(
  task: OutboundTask & { readonly receiptHash: string },
  {
    settlementId,
    now,
    refundable,
    x402,
  }: {
    readonly settlementId: string;
    readonly now: number;
    readonly refundable: boolean;
    readonly x402?: X402Reference | undefined;
  },
): OutgoingSettlement {
  return {
    settlementId,
    taskId: task.taskId,
    peerId: task.peerId,
    agentId: task.agentId,
    receiptHash: task.receiptHash,
    terms: task.terms,
    settledAt: now,
    refundable,
    state: "pending",
    resolution: null,
    attempts: 0,
    unreached: 0,
    rounds: 0,
    attemptsInRound: 0,
    lastAttemptAt: null,
    phase: "forwarding",
    asks: 0,
    dueAt: now,
    ...(x402 !== undefined && { x402 }),
  };
}

/** Returns whether a settlement can no longer change; a held one waits for the operator. */
export function isSettlementResolved({
  resolution,
}: Pick<OutgoingSettlement, "resolution">): boolean {
  return resolution === "paid" || resolution === "refunded";
}

/**
 * Returns the settlement as of `now` for the answer to a repeated result, because the peer may have lost
 * it; null if it is not paid. A peer that still has it does not book it again.
 */
export function repeatPaidSettlement(
  settlement: OutgoingSettlement,
  now: number,
): OutgoingSettlement | null {
  return settlement.resolution === "paid" ? { ...settlement, lastAttemptAt: now } : null;
}

/** Returns the amount that an undecided settlement will still add to the debt to the peer. */
export function getSettlementPayable({ state, resolution, terms }: OutgoingSettlement): Micro {
  return state === "pending" || resolution === "held" ? terms.net : asMicro(0);
}
