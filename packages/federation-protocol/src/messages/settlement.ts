import { isFeeRate } from "@agent/budget";
import { describeAs, id, shortText, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, money, signature, uuid } from "../fields.ts";

const settlementMembers = {
  settlement_id: id,
  task_id: id,
  origin_relay: uuid,
  agent_id: uuid,
  receipt_hash: hex32,
  gross_amount: money,
  fee_rate: describeAs(
    v.pipe(
      v.number(),
      v.check((rate: number) => isFeeRate(rate), "must be from 0 to below 1"),
    ),
    "The sender's fee as a part of `gross_amount`, from 0 to below 1.",
  ),
  fee_amount: describeAs(money, "The fee that the sender keeps, in USD."),
  amount: describeAs(money, "The amount that the receiver is paid, in USD."),
  currency: v.literal("USD"),
  settled_at: timestamp,
  x402_tx_hash: v.optional(shortText),
  x402_network: v.optional(shortText),
};

/**
 * The body of settlement/forward: `amount` is what the receiver gets, signed by the sender. `settled_at`
 * and `timestamp` (of the attempt) are in ms since the epoch, by the sender's clock.
 */
export const SettlementForwardSchema = v.object({ ...settlementMembers, ...envelope, signature });

/** The body of a settlement. */
export type SettlementForward = v.InferOutput<typeof SettlementForwardSchema>;

/** The receiver's fee and what it pays out; repetitions get the same answer. */
export const SettlementAnswerSchema = v.object({
  status: describeAs(v.literal("settled"), "Always `settled`."),
  settlement_id: id,
  fee_amount: describeAs(money, "The fee that the receiver keeps of the payment, in USD."),
  net_amount: describeAs(
    money,
    "The amount that the receiver pays to the agent or the next relay, in USD.",
  ),
});

/** The receiver's fee and what it pays out, in USD. */
export type SettlementAnswer = v.InferOutput<typeof SettlementAnswerSchema>;

/**
 * A settlement that the answering relay has booked as its receiver; `settled_at` is in ms since the
 * epoch, by the clock of the relay that sent it.
 */
export const BookedSettlementSchema = v.object({
  ...settlementMembers,
  status: describeAs(v.literal("settled"), "Always `settled`."),
});

/** A settlement that the answering relay has booked as its receiver. */
export type BookedSettlement = v.InferOutput<typeof BookedSettlementSchema>;

/** The answer of `GET /federation/v1/settlements`. */
export const SettlementListSchema = v.object({
  settlements: describeAs(
    v.array(BookedSettlementSchema),
    "The settlements of the calling peer that this relay has booked, newest first.",
  ),
});

/** The answer of `GET /federation/v1/settlements`. */
export type SettlementList = v.InferOutput<typeof SettlementListSchema>;

/**
 * The required members of a settlement that another relay lists; its other members may have any
 * form.
 */
export const ReportedSettlementsSchema = v.object({
  settlements: v.array(
    v.object({
      settlement_id: id,
      task_id: v.optional(id),
      status: v.optional(v.string()),
      receipt_hash: v.optional(v.unknown()),
      amount: v.optional(v.unknown()),
    }),
  ),
});

/** The settlements that another relay lists. */
export type ReportedSettlements = v.InferOutput<typeof ReportedSettlementsSchema>;
