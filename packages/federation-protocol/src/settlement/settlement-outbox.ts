import { asMicro, fromMicro, type Micro } from "@agent/budget";
import { type Delivery, isPeerFrozen, classifyDelivery } from "../delivery/delivery.ts";
import type { SettlementTerms } from "./settlement-terms.ts";
import type { ReportedSettlements } from "../messages/settlement.ts";
import type { OutboundTask } from "../forwarding/outbound-task.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

/** A settlement of any other status is not one that was paid. */
const bookedStatuses = ["settled", "completed", "partial"];
const MAX_ASKS = 3;
const MAX_ROUNDS = 3;
/** A peer that says for longer that it is frozen would keep the payer's money held for ever. */
const MAX_FROZEN_MS = 7 * 24 * 60 * 60 * 1_000;

/** The states of the specification ("Federated settlement forward"). */
export type SettlementState = "pending" | "completed" | "failed";

/** How a settlement ended: the peer booked it; the payer has its money back; the operator decides. */
export type Resolution = "paid" | "refunded" | "held";

/** A settlement that this relay owes a peer, kept until the peer confirms it or it is given up. */
export interface OutgoingSettlement {
  readonly settlementId: string;
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  readonly receiptHash: string;
  readonly terms: SettlementTerms;
  readonly settledAt: number;
  /** False at a relay in the middle, which was paid for the task and has nobody to refund. */
  readonly refundable: boolean;
  readonly state: SettlementState;
  readonly resolution: Resolution | null;
  /** Of all rounds together. */
  readonly attempts: number;
  /** Attempts that certainly never got a connection. */
  readonly unreached: number;
  /** A round is one run through the schedule; this counts the rounds that are over. */
  readonly rounds: number;
  readonly attemptsInRound: number;
  readonly lastAttemptAt: number | null;
  /** `asking`: no more attempts; the peer is asked whether one of them was booked. */
  readonly phase: "forwarding" | "asking";
  readonly asks: number;
  readonly dueAt: number | null;
  /** The payment that the task came with where it began. */
  readonly x402?: X402Reference;
}

/** A payment on a chain: its transaction, and the chain as CAIP-2. */
export interface X402Reference {
  readonly txHash: string;
  readonly network: string;
}

/** The settlement of a completed task, to be sent at once. */
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

/** What is to be done for a settlement now. */
export function getNextStep(
  { state, phase, dueAt }: OutgoingSettlement,
  now: number,
): "forward" | "ask" | null {
  if (state !== "pending" || dueAt === null || dueAt > now) return null;
  return phase === "forwarding" ? "forward" : "ask";
}

/** The state to store before an attempt leaves: after a crash it counts as one that may arrive. */
export function beginAttempt(
  settlement: OutgoingSettlement,
  { pauses, settleDownMs }: RetrySchedule,
  now: number,
): OutgoingSettlement {
  const pause = pauses[settlement.attemptsInRound];
  return {
    ...settlement,
    attempts: settlement.attempts + 1,
    attemptsInRound: settlement.attemptsInRound + 1,
    lastAttemptAt: now,
    phase: pause === undefined ? "asking" : "forwarding",
    // A copy is still taken in the very last millisecond of its life.
    dueAt: now + (pause ?? settleDownMs + 1),
  };
}

/**
 * What an attempt's end says (docs/decisions.md, 7). A lost answer is unknown, never failed; even a
 * refusal does not say that an earlier copy was not booked, so it only ends the attempts. A peer that
 * answers 503 `server.frozen` uses up no attempt, for at most 7 days from the settlement on. When no
 * attempt ever got a connection, nothing can have been booked, and nobody has to be asked.
 */
export function endAttempt(
  settlement: OutgoingSettlement,
  delivery: Delivery,
  { settleDownMs, now }: Pick<RetrySchedule, "settleDownMs"> & { readonly now: number },
): OutgoingSettlement {
  const outcome = classifyDelivery(delivery);
  if (outcome === "accepted") return markPaid(settlement);
  if (settlement.state !== "pending") return settlement;
  if (isPeerFrozen(delivery) && now - settlement.settledAt < MAX_FROZEN_MS)
    return revertAttempt(settlement);
  if (delivery.kind === "unreachable") {
    const counted = { ...settlement, unreached: settlement.unreached + 1 };
    const neverArrived = counted.phase === "asking" && counted.unreached === counted.attempts;
    return neverArrived ? markUnpaid(counted, now) : counted;
  }
  if (!endsAttempts(delivery)) return settlement;
  const dueAt = (settlement.lastAttemptAt ?? now) + settleDownMs + 1;
  return { ...settlement, phase: "asking", dueAt };
}

/** The state to store before the peer is asked. */
export function beginAsk(
  settlement: OutgoingSettlement,
  { pauses }: RetrySchedule,
  now: number,
): OutgoingSettlement {
  const asks = settlement.asks + 1;
  return { ...settlement, asks, dueAt: now + (pauses[asks - 1] ?? 0) };
}

/**
 * What the peer's answer to the question says; `list` is null when there was none. A peer that
 * cannot be asked three times leaves the money held for the operator.
 */
export function endAsk(
  settlement: OutgoingSettlement,
  list: ReportedSettlements | null,
  now: number,
): OutgoingSettlement {
  if (settlement.state !== "pending" || settlement.phase !== "asking") return settlement;
  if (list === null)
    return settlement.asks < MAX_ASKS ? settlement : markFailed(settlement, "held");
  const isBooked = list.settlements.some(
    (listed) =>
      bookedStatuses.includes(listed.status ?? "settled") &&
      (isSameSettlement(settlement, listed) || isEarlierSettlement(settlement, listed)),
  );
  return isBooked ? markPaid(settlement) : markUnpaid(settlement, now);
}

type ReportedSettlement = ReportedSettlements["settlements"][number];

function isSameSettlement(
  { settlementId, taskId }: OutgoingSettlement,
  { settlement_id, task_id = taskId }: ReportedSettlement,
): boolean {
  return settlement_id === settlementId && task_id === taskId;
}

/**
 * A task is settled once, so one of the same task, receipt and amount is this relay's own from before
 * its database was restored, under an id that the backup lacks.
 */
function isEarlierSettlement(
  { taskId, receiptHash, terms }: OutgoingSettlement,
  { task_id, receipt_hash, amount }: ReportedSettlement,
): boolean {
  return task_id === taskId && receipt_hash === receiptHash && amount === fromMicro(terms.net);
}

/** The operator starts the attempts anew; the peer books a settlement id once, so that is safe. */
export function redriveSettlement(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  return settlement.resolution === "held" ? { ...restart(settlement, now), rounds: 0 } : settlement;
}

/** The operator gives a held settlement up: the money goes back to where it came from. */
export function refundHeldSettlement(settlement: OutgoingSettlement): OutgoingSettlement {
  return settlement.resolution === "held" ? markFailed(settlement, "refunded") : settlement;
}

/** Whether nothing more can come of a settlement; a held one waits for the operator. */
export function isSettlementResolved({
  resolution,
}: Pick<OutgoingSettlement, "resolution">): boolean {
  return resolution === "paid" || resolution === "refunded";
}

/**
 * A paid settlement as it is said again at `now` in the answer to a repeated result, to a peer that
 * may have lost it; null for one that is not paid. A peer that still has it does not book it twice.
 */
export function repeatPaidSettlement(
  settlement: OutgoingSettlement,
  now: number,
): OutgoingSettlement | null {
  return settlement.resolution === "paid" ? { ...settlement, lastAttemptAt: now } : null;
}

/** What a settlement that is not decided will still add to what is owed to the peer. */
export function getSettlementPayable({ state, resolution, terms }: OutgoingSettlement): Micro {
  return state === "pending" || resolution === "held" ? terms.net : asMicro(0);
}

/** An attempt that met a frozen peer is none: it is made again after the same pause. */
function revertAttempt(settlement: OutgoingSettlement): OutgoingSettlement {
  const { attempts, attemptsInRound } = settlement;
  return {
    ...settlement,
    attempts: attempts - 1,
    attemptsInRound: attemptsInRound - 1,
    phase: "forwarding",
  };
}

/** A peer without room for the payment may have some later, so that alone ends nothing. */
function endsAttempts(delivery: Delivery): boolean {
  const outcome = classifyDelivery(delivery);
  const lacksCredit = delivery.kind === "answered" && delivery.status === 402;
  return outcome === "duplicate" || (outcome === "refused" && !lacksCredit);
}

function markPaid(settlement: OutgoingSettlement): OutgoingSettlement {
  // Money that went back to the payer is not paid a second time.
  if (settlement.resolution === "refunded") return settlement;
  return { ...settlement, state: "completed", resolution: "paid", dueAt: null };
}

/** The peer certainly did not book it. A relay in the middle owes it all the same, and tries on. */
function markUnpaid(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  if (settlement.refundable) return markFailed(settlement, "refunded");
  const rounds = settlement.rounds + 1;
  return rounds < MAX_ROUNDS
    ? { ...restart(settlement, now), rounds }
    : markFailed(settlement, "held");
}

function markFailed(
  settlement: OutgoingSettlement,
  resolution: "refunded" | "held",
): OutgoingSettlement {
  return { ...settlement, state: "failed", resolution, dueAt: null };
}

function restart(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  return {
    ...settlement,
    state: "pending",
    resolution: null,
    phase: "forwarding",
    attemptsInRound: 0,
    asks: 0,
    dueAt: now,
  };
}
