import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accountOf, computeAvailableBalance, checkBalance, type Account } from "./account.ts";
import { computeLockAmount } from "./allocation.ts";
import { fromMicro, toMicro } from "./amount.ts";
import { ZERO, type Micro } from "./money.ts";
import {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  isBalanced,
  buildReleasePostings,
  buildSettlementPostings,
  type Posting,
} from "./posting.ts";
import { decideSettlement, type ReceiptStatus, type StepCount } from "./settlement.ts";

interface OpenTask {
  readonly payerId: string;
  readonly charge: Micro;
  readonly locked: Micro;
}

/** The money of a relay as this package decides it, stored in maps. */
class Book {
  balances: Map<Account, Micro> = new Map();
  readonly postings: Posting[] = [];
  readonly open: Map<string, OpenTask> = new Map();
  readonly feeRate: number;

  constructor(feeRate: number) {
    this.feeRate = feeRate;
  }

  balance(account: Account): Micro {
    return this.balances.get(account) ?? ZERO;
  }

  deposit(agentId: string, amount: Micro): string {
    const refused = checkBalance(this.balance(accountOf.agent(agentId)) + amount);
    return refused.ok ? this.#post(buildDepositPostings({ agentId, amount })) : refused.code;
  }

  hold(payerId: string, taskId: string, charge: Micro, maxBudget?: Micro): string {
    const balance = this.balance(accountOf.agent(payerId));
    const available = computeAvailableBalance({ balance, maxBudget });
    const locked = computeLockAmount({ estimate: charge, available });
    if (locked === null) return "budget.insufficient";
    this.open.set(taskId, { payerId, charge, locked });
    return this.#post(buildHoldPostings({ payerId, taskId, amount: locked }));
  }

  release(taskId: string): string {
    const task = this.#close(taskId);
    return task === undefined
      ? "not open"
      : this.#post(buildReleasePostings({ payerId: task.payerId, taskId, amount: task.locked }));
  }

  settle(
    taskId: string,
    payeeId: string,
    receiptStatus: ReceiptStatus,
    steps: StepCount | undefined,
  ): string {
    const task = this.#close(taskId);
    if (task === undefined) return "not open";
    const { payerId, locked, charge } = task;
    const decision = decideSettlement({
      receiptStatus,
      locked,
      charge,
      steps,
      feeRate: this.feeRate,
    });
    const { amount, fee } = decision;
    this.#post(buildSettlementPostings({ payerId, payeeId, taskId, locked, charge: amount, fee }));
    return decision.status;
  }

  #close(taskId: string): OpenTask | undefined {
    const task = this.open.get(taskId);
    this.open.delete(taskId);
    return task;
  }

  #post(postings: readonly Posting[]): string {
    this.postings.push(...postings);
    this.balances = applyPostings(this.balances, postings);
    return "ok";
  }
}

/** Runs one row of a history and returns its result. */
function run(book: Book, row: string): string {
  const [verb = "", subject = "", ...words] = row.trim().split(/\s+/);
  const [first = "", second = "", third] = words;
  switch (verb) {
    case "deposit":
      return book.deposit(subject, toMicro(first));
    case "hold":
      return book.hold(
        subject,
        first,
        toMicro(second),
        third === undefined ? third : toMicro(third),
      );
    case "release":
      return book.release(subject);
    case "settle": {
      const [completed, total] = (third ?? "").split("/").map(Number);
      const steps =
        completed === undefined || total === undefined ? undefined : { completed, total };
      return book.settle(subject, first, second as ReceiptStatus, steps);
    }
    case "balance":
      return String(fromMicro(book.balance(subject as Account)));
    default:
      throw new Error(`no such row: ${row}`);
  }
}

// deposit AGENT AMOUNT | hold PAYER TASK PRICE [MAX_BUDGET]
// settle TASK PAYEE RECEIPT [STEPS] | release TASK | balance ACCOUNT
const histories: Record<string, string> = {
  "a completed receipt pays the price less the fee and returns the buffer": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    balance agent:ann                 -> 7.6
    balance held:t1                   -> 2.4
    settle  t1 bob completed          -> completed
    balance agent:ann                 -> 8
    balance agent:bob                 -> 1.9
    balance relay:fees                -> 0.1
    balance held:t1                   -> 0
    balance world                     -> -10`,

  "a completed receipt without a buffer pays the same": `
    deposit ann 2                     -> ok
    hold    ann t1 2                  -> ok
    balance agent:ann                 -> 0
    settle  t1 bob completed          -> completed
    balance agent:ann                 -> 0
    balance agent:bob                 -> 1.9
    balance relay:fees                -> 0.1`,

  "a partial receipt returns the buffer once": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    settle  t1 bob completed 1/4      -> partial
    balance agent:ann                 -> 9.5
    balance agent:bob                 -> 0.475
    balance relay:fees                -> 0.025
    balance held:t1                   -> 0`,

  "a partial receipt that rounds to no cent pays nothing": `
    deposit ann 1                     -> ok
    hold    ann t1 0.008              -> ok
    settle  t1 bob completed 1/2      -> partial
    balance agent:ann                 -> 1
    balance agent:bob                 -> 0`,

  "a failed receipt returns the hold and pays nothing": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    settle  t1 bob failed             -> refunded
    balance agent:ann                 -> 10
    balance agent:bob                 -> 0
    balance relay:fees                -> 0`,

  "a denied receipt returns the hold, whatever its steps": `
    deposit ann 2                     -> ok
    hold    ann t1 2                  -> ok
    settle  t1 bob denied 1/2         -> refunded
    balance agent:ann                 -> 2
    balance agent:bob                 -> 0`,

  "an expired task returns its hold once": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    release t1                        -> ok
    release t1                        -> not open
    settle  t1 bob completed          -> not open
    balance agent:ann                 -> 10
    balance agent:bob                 -> 0`,

  "a settled task is not paid, returned or settled again": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    settle  t1 bob completed          -> completed
    settle  t1 bob completed          -> not open
    release t1                        -> not open
    balance agent:ann                 -> 8
    balance agent:bob                 -> 1.9`,

  "holds of 1.2 against 5 leave room for four tasks of price 1": `
    deposit ann 5                     -> ok
    hold    ann t1 1                  -> ok
    hold    ann t2 1                  -> ok
    hold    ann t3 1                  -> ok
    hold    ann t4 1                  -> ok
    balance agent:ann                 -> 0.2
    hold    ann t5 1                  -> budget.insufficient
    release t1                        -> ok
    hold    ann t5 1                  -> ok`,

  "an empty account can only hold a free task": `
    hold    ann t1 0.000001           -> budget.insufficient
    hold    ann t2 0                  -> ok
    settle  t2 bob completed          -> completed
    balance agent:bob                 -> 0`,

  "a maximum budget limits the hold and refuses a higher price": `
    deposit ann 10                    -> ok
    hold    ann t1 2 1.999999         -> budget.insufficient
    hold    ann t2 2 2.1              -> ok
    balance held:t2                   -> 2.1
    settle  t2 bob completed          -> completed
    balance agent:ann                 -> 8`,

  "a balance above 9e9 is refused": `
    deposit ann 9000000000            -> ok
    deposit ann 0.000001              -> money.balance_limit
    deposit bob 0.000001              -> ok
    balance agent:ann                 -> 9000000000`,

  "an agent that works for itself pays the fee": `
    deposit ann 10                    -> ok
    hold    ann t1 2                  -> ok
    settle  t1 ann completed          -> completed
    balance agent:ann                 -> 9.9
    balance relay:fees                -> 0.1`,

  "a worker pays its own helper from its own account": `
    deposit ann 10                    -> ok
    deposit bob 1                     -> ok
    hold    ann t1 2                  -> ok
    hold    bob t2 0.5                -> ok
    settle  t2 cid completed          -> completed
    settle  t1 bob completed          -> completed
    balance agent:ann                 -> 8
    balance agent:bob                 -> 2.4
    balance agent:cid                 -> 0.475
    balance relay:fees                -> 0.125`,
};

describe("a history of money at a fee rate of 0.05", () => {
  test.each(Object.entries(histories))("%s", (_rule, text) => {
    const rows = text
      .trim()
      .split("\n")
      .map((row) => row.split("->").map((side) => side.trim()));
    const book = new Book(0.05);
    const outcomes = rows.map(([row = ""]) => [row, run(book, row)]);
    expect(outcomes).toEqual(rows);
  });
});

describe("any history", () => {
  const agent = fc.constantFrom("ann", "bob", "cid");
  const task = fc.constantFrom("t1", "t2", "t3", "t4");
  const amount = fc.integer({ min: 0, max: 3_000_000 }).map((micro) => fromMicro(micro as Micro));
  const receipt = fc.constantFrom("completed", "completed", "failed", "denied");
  const steps = fc
    .tuple(fc.nat(4), fc.nat(4))
    .map(([a, b]) => `${Math.min(a, b)}/${Math.max(a, b)}`);
  const words = (...parts: fc.Arbitrary<unknown>[]) =>
    fc.tuple(...parts).map((each) => each.join(" "));
  const deposit = words(fc.constant("deposit"), agent, amount);
  const hold = words(fc.constant("hold"), agent, task, amount);
  const settle = words(fc.constant("settle"), task, agent, receipt, fc.option(steps, { nil: "" }));
  const release = words(fc.constant("release"), task);
  const history = fc.array(fc.oneof(deposit, hold, hold, settle, settle, release), {
    maxLength: 60,
  });
  const feeRate = fc.integer({ min: 0, max: 999_999 }).map((ppm) => ppm / 1_000_000);

  /** Runs the rows; the id of an open task is not used again. */
  const play = (rows: readonly string[], rate: number): Book => {
    const book = new Book(rate);
    for (const row of rows) {
      const [verb, , taskId = ""] = row.split(" ");
      if (verb !== "hold" || !book.open.has(taskId)) run(book, row);
    }
    return book;
  };

  test("in any history money is conserved, no balance is negative, and every hold is open or fully paid out", () => {
    fc.assert(
      fc.property(history, feeRate, (rows, rate) => {
        const book = play(rows, rate);
        expect(isBalanced(book.postings)).toBe(true);

        const refused = [...book.balances].filter(
          ([account, balance]) => account !== "world" && !checkBalance(balance).ok,
        );
        expect(refused).toEqual([]);

        for (const taskId of ["t1", "t2", "t3", "t4"]) {
          const held = book.balance(accountOf.held(taskId));
          expect(held).toBe(book.open.get(taskId)?.locked ?? ZERO);
        }
      }),
    );
  });

  test("in any history no single posting makes a balance negative", () => {
    fc.assert(
      fc.property(history, feeRate, (rows, rate) => {
        const running = new Map<Account, number>();
        for (const { account, amount: moved } of play(rows, rate).postings) {
          const after = (running.get(account) ?? 0) + moved;
          running.set(account, after);
          expect(account === "world" || after >= 0).toBe(true);
        }
      }),
    );
  });

  test("in any history agents, holds and fees add up to the deposit", () => {
    fc.assert(
      fc.property(history, feeRate, (rows, rate) => {
        const spending = rows.filter((row) => !row.startsWith("deposit"));
        const book = play(["deposit ann 1000", ...spending], rate);
        const inside = [...book.balances]
          .filter(([account]) => account !== "world")
          .reduce((sum, [, balance]) => sum + balance, 0);
        expect(inside).toBe(toMicro(1000));
      }),
    );
  });
});
