import type { Micro, ReceiptStatus } from "@agent/budget";

/** One movement of money, or an attempt at one. */
export type MoneyOperation =
  | {
      readonly kind: "deposit";
      readonly agentId: string;
      readonly amount: Micro;
      /** A deposit with a repeated reference credits nothing. */
      readonly reference: string | undefined;
    }
  | { readonly kind: "reverse"; readonly agentId: string; readonly amount: Micro }
  | {
      readonly kind: "withdraw";
      readonly agentId: string;
      readonly amount: Micro;
      /** The name by which `resolve` refers to it, because the relay chooses the id. */
      readonly name: string;
    }
  | { readonly kind: "resolve"; readonly name: string; readonly isPaid: boolean }
  | {
      readonly kind: "hold";
      readonly agentId: string;
      readonly taskId: string;
      readonly charge: Micro;
      readonly maxBudget: Micro | undefined;
    }
  | { readonly kind: "release"; readonly taskId: string }
  | {
      readonly kind: "settle";
      readonly taskId: string;
      readonly payeeId: string;
      readonly status: ReceiptStatus;
    };

/** `ok` or the code of the refusal. */
export type MoneyOutcome = string;

export interface MoneyHold {
  readonly payerId: string;
  readonly charge: Micro;
  readonly locked: Micro;
}
