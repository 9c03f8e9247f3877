import { asMicro, type Micro } from "@agent/budget";
import type { SeededRandom } from "@agent/testkit";
import type { MoneyBook } from "./money-book.ts";
import type { MoneyOperation } from "./operations.ts";

const DOLLAR = 1_000_000;
const STATUSES = ["completed", "completed", "failed", "denied"] as const;

/** Chooses operations for only a few agents, so that many operations use the same accounts. */
export class OperationChooser {
  readonly #random: SeededRandom;
  readonly #agents: readonly string[];
  #count = 0;

  constructor(random: SeededRandom, agents: readonly string[]) {
    this.#random = random;
    this.#agents = agents;
  }

  /** Divides the agents again at random, so that over time any two agents are in the same part. */
  divide(parts: number): readonly (readonly string[])[] {
    const left = [...this.#agents];
    const divided = Array.from({ length: parts }, (): string[] => []);
    for (let at = 0; left.length > 0; at += 1) {
      divided[at % parts]?.push(...left.splice(this.#random.below(left.length), 1));
    }
    return divided;
  }

  /**
   * Chooses operations that involve only the given agents, and their tasks and withdrawals. All operations can
   * run at once, because at most one of them ends the same open task.
   */
  choose(book: MoneyBook, agents: readonly string[], count: number): MoneyOperation[] {
    const isOwn = (agentId: string) => agents.includes(agentId);
    const open = [...book.holds].filter(([, { payerId }]) => isOwn(payerId)).map(([id]) => id);
    const newest = [...book.withdrawals].slice(-50);
    const withdrawals = newest.filter(([, { agentId }]) => isOwn(agentId)).map(([name]) => name);
    return Array.from({ length: count }, () => this.#chooseOne(agents, open, withdrawals));
  }

  #chooseOne(
    agents: readonly string[],
    open: string[],
    withdrawals: readonly string[],
  ): MoneyOperation {
    const kind = this.#random.below(20);
    const agentId = this.#pick(agents);
    if (kind < 5) return this.#chooseDeposit(agentId);
    if (kind === 5) return { kind: "reverse", agentId, amount: this.#amount(80) };
    if (kind < 8) return this.#chooseWithdrawal(agentId);
    // The first agent withdraws so often that it reaches the limit of pending withdrawals.
    const [often] = this.#agents;
    if (kind === 8 && agents.includes(often!)) return this.#chooseWithdrawal(often!);
    if (kind < 10) {
      const name = withdrawals.length === 0 ? "unknown" : this.#pick(withdrawals);
      return { kind: "resolve", name, isPaid: this.#random.below(2) === 0 };
    }
    const taskId = kind < 15 ? undefined : open.splice(this.#random.below(open.length), 1)[0];
    if (taskId === undefined) {
      const maxBudget = this.#random.below(3) === 0 ? this.#amount(20) : undefined;
      return { kind: "hold", agentId, taskId: this.#name(), charge: this.#amount(15), maxBudget };
    }
    if (kind === 19) return { kind: "release", taskId };
    const payeeId = this.#pick(agents);
    return { kind: "settle", taskId, payeeId, status: this.#random.pick(STATUSES) };
  }

  #chooseWithdrawal(agentId: string): MoneyOperation {
    return { kind: "withdraw", agentId, amount: this.#amount(20), name: this.#name() };
  }

  #chooseDeposit(agentId: string): MoneyOperation {
    // The first agent reaches the limit of a balance, at which deposits and settlements are refused.
    const isLarge = agentId === this.#agents[0] && this.#random.below(2) === 0;
    const amount = isLarge ? asMicro(1e9 * DOLLAR) : this.#amount(30);
    const reference =
      this.#random.below(4) === 0 ? `reference ${this.#random.below(1_000)}` : undefined;
    return { kind: "deposit", agentId, amount, reference };
  }

  /** Chooses an amount of up to this many dollars, with fractions of a cent. */
  #amount(dollars: number): Micro {
    return asMicro(1 + this.#random.below(dollars * DOLLAR));
  }

  #name(): string {
    this.#count += 1;
    return `${this.#count}`;
  }

  #pick(items: readonly string[]): string {
    return items[this.#random.below(items.length)] ?? "";
  }
}
