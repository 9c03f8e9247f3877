import { toDollars, type Micro } from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";

/** Adds the price to a refusal, so that the payer learns how much it needs. */
export function withEstimatedCost<R extends Refusal>(refusal: R, charge: number): R {
  return { ...refusal, members: { estimated_cost: toDollars(charge) } };
}

/** Names the ways in which money reaches an account of this relay. */
export function describeWaysToPay({ payments }: Services["config"]): string {
  const ways = [
    "a deposit by the operator",
    ...(payments.cardSecretKey === undefined ? [] : ["a card (POST .../checkout)"]),
    ...(payments.realPayments ? ["an x402 payment with the task"] : []),
  ];
  return `this relay takes ${ways.join(", ")}`;
}

/** Checks a price against the submission's limits, before any account is read. */
export function checkPrice(
  charge: number,
  {
    payerId,
    maxBudget,
    requireMaxBudget,
  }: {
    readonly payerId: string | null;
    readonly maxBudget: Micro | undefined;
    readonly requireMaxBudget: boolean;
  },
): Refusal<"budget.no_payer" | "budget.max_exceeded" | "budget.max_required"> | undefined {
  if (maxBudget === undefined && charge > 0 && requireMaxBudget) {
    return refuse("budget.max_required");
  }
  if (maxBudget !== undefined && charge > maxBudget) {
    return withEstimatedCost(refuse("budget.max_exceeded"), charge);
  }
  return charge > 0 && payerId === null
    ? withEstimatedCost(refuse("budget.no_payer"), charge)
    : undefined;
}
