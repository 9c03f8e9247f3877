import {
  asMicro,
  checkFunds,
  computeAvailableBalance,
  computeLockAmount,
  decideSettlement,
  MAX_BALANCE,
  type Micro,
} from "@agent/budget";
import { limits } from "@agent/wire";
import type { MoneyHold, MoneyOperation, MoneyOutcome } from "./operations.ts";

interface Purse {
  balance: number;
  held: number;
  pending: number;
}

type Of<Kind extends MoneyOperation["kind"]> = Extract<MoneyOperation, { kind: Kind }>;

interface Withdrawal {
  readonly agentId: string;
  readonly amount: Micro;
  isPending: boolean;
}

/** More than the number that can be chosen or added in one round with any number of processes. */
const MAX_WITHDRAWALS = 1_000;

/** The expected money of a relay: numbers in maps, without rows, batches or retries. */
export class MoneyBook {
  readonly purses = new Map<string, Purse>();
  readonly holds = new Map<string, MoneyHold>();
  readonly withdrawals = new Map<string, Withdrawal>();
  fees = 0;
  /** The total of incoming money minus that of outgoing money. */
  deposited = 0;
  readonly #references = new Set<string>();
  /** The number of pending withdrawals by agent. */
  readonly #pending = new Map<string, number>();
  readonly #feeRate: number;

  constructor(feeRate: number) {
    this.#feeRate = feeRate;
  }

  apply(operation: MoneyOperation): MoneyOutcome {
    switch (operation.kind) {
      case "deposit":
        return this.#deposit(operation);
      case "reverse":
        this.purse(operation.agentId).balance -= operation.amount;
        this.deposited -= operation.amount;
        return "ok";
      case "withdraw":
        return this.#withdraw(operation);
      case "resolve":
        return this.#resolve(operation);
      case "hold":
        return this.#hold(operation);
      case "release":
        this.#end(operation.taskId);
        return "ok";
      case "settle":
        return this.#settle(operation);
    }
  }

  purse(agentId: string): Purse {
    let purse = this.purses.get(agentId);
    if (purse === undefined)
      this.purses.set(agentId, (purse = { balance: 0, held: 0, pending: 0 }));
    return purse;
  }

  #deposit({ agentId, amount, reference }: Of<"deposit">): MoneyOutcome {
    const name = `${agentId} ${reference}`;
    if (reference !== undefined && this.#references.has(name)) return "ok";
    const purse = this.purse(agentId);
    if (sumOf(purse) + amount > MAX_BALANCE) return "money.balance_limit";
    if (reference !== undefined) this.#references.add(name);
    purse.balance += amount;
    this.deposited += amount;
    return "ok";
  }

  #countPending(agentId: string): number {
    return this.#pending.get(agentId) ?? 0;
  }

  #withdraw({ agentId, amount, name }: Of<"withdraw">): MoneyOutcome {
    const purse = this.purse(agentId);
    if (this.#countPending(agentId) >= limits.pendingWithdrawals) return "withdrawal.too_many";
    const before = purse.balance;
    const covered = checkFunds({ before, after: before - amount });
    if (!covered.ok) return covered.code;
    purse.balance -= amount;
    purse.pending += amount;
    this.#pending.set(agentId, this.#countPending(agentId) + 1);
    this.withdrawals.set(name, { agentId, amount, isPending: true });
    for (const oldest of this.withdrawals.keys()) {
      if (this.withdrawals.size <= MAX_WITHDRAWALS) break;
      this.withdrawals.delete(oldest);
    }
    return "ok";
  }

  #resolve({ name, isPaid }: Of<"resolve">): MoneyOutcome {
    const withdrawal = this.withdrawals.get(name);
    if (withdrawal === undefined) return "withdrawal.not_found";
    if (!withdrawal.isPending) return "withdrawal.resolved";
    withdrawal.isPending = false;
    const { agentId, amount } = withdrawal;
    const purse = this.purse(agentId);
    purse.pending -= amount;
    this.#pending.set(agentId, this.#countPending(agentId) - 1);
    if (isPaid) this.deposited -= amount;
    else purse.balance += amount;
    return "ok";
  }

  #hold({ agentId, taskId, charge, maxBudget }: Of<"hold">): MoneyOutcome {
    const purse = this.purse(agentId);
    const available = computeAvailableBalance({ balance: asMicro(purse.balance), maxBudget });
    const locked = computeLockAmount({ estimate: charge, available });
    if (locked === null) return purse.balance < 0 ? "account.overdrawn" : "budget.insufficient";
    purse.balance -= locked;
    purse.held += locked;
    this.holds.set(taskId, { payerId: agentId, charge, locked });
    return "ok";
  }

  #settle({ taskId, payeeId, status }: Of<"settle">): MoneyOutcome {
    const hold = this.holds.get(taskId);
    if (hold === undefined) throw new Error("a task is settled once");
    const { locked, charge } = hold;
    const decided = decideSettlement({
      receiptStatus: status,
      locked,
      charge,
      feeRate: this.#feeRate,
    });
    const payee = this.purse(payeeId);
    const isOwn = hold.payerId === payeeId;
    const due = sumOf(payee) + decided.net - (isOwn ? decided.amount : 0);
    if (decided.net > 0 && due > MAX_BALANCE) return "money.balance_limit";
    const payer = this.#end(taskId);
    payer.balance -= decided.amount;
    payee.balance += decided.net;
    this.fees += decided.fee;
    return "ok";
  }

  #end(taskId: string): Purse {
    const hold = this.holds.get(taskId);
    if (hold === undefined) throw new Error("a task ends once");
    this.holds.delete(taskId);
    const purse = this.purse(hold.payerId);
    purse.held -= hold.locked;
    purse.balance += hold.locked;
    return purse;
  }
}

function sumOf({ balance, held, pending }: Purse): number {
  return balance + held + pending;
}
