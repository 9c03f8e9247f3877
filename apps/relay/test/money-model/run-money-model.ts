import { isDeepStrictEqual } from "node:util";
import { fromMicro } from "@agent/budget";
import { isUuid } from "@agent/crypto";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { releaseHold, reserveHold } from "../../src/budget/reserve-hold.ts";
import { settleFromHold } from "../../src/budget/settle-from-hold.ts";
import { deposit } from "../../src/budget/transfers/deposit.ts";
import { requestWithdrawal } from "../../src/budget/transfers/request-withdrawal.ts";
import { resolveWithdrawal } from "../../src/budget/transfers/resolve-withdrawal.ts";
import { reverseDeposit } from "../../src/budget/transfers/reverse-deposit.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { operatorCaller as caller } from "../../src/identity/caller.ts";
import { loadRelayIdentity } from "../../src/identity/relay-identity.ts";
import { createLog } from "../../src/observability/log.ts";
import { newId } from "../../src/runtime.ts";
import type { Services } from "../../src/services.ts";
import { compile, sql } from "../../src/storage/queries/compiled-query.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { AccountRow } from "../../src/storage/tables/budget.ts";
import { OperationChooser } from "./choose-operations.ts";
import { MoneyBook } from "./money-book.ts";
import type { MoneyOperation, MoneyOutcome } from "./operations.ts";

type MoneyServices = Pick<Services, "storage" | "runtime" | "identity" | "config" | "log">;

const AGENTS = 12;
/** As many operations as can wait for one commit of a process. */
const MAX_AT_ONCE = 64;
/** The number of comparisons of all accounts in a run. */
const COMPARISONS = 50;

export interface ModelOptions {
  readonly seed: number;
  readonly operations: number;
  readonly onProgress?: (done: number) => void;
}

export interface ModelResult {
  readonly operations: number;
  /** The number of operations with each outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** A process of the relay and the operations that it runs in one round. */
interface Share {
  readonly relay: MoneyRelay;
  readonly operations: readonly MoneyOperation[];
}

/**
 * Moves money with the relay's own functions, many at once, and in a book of plain numbers. Throws at the first
 * outcome, account or sum that differs. Each storage represents one process on the same database. The order of
 * the processes is unknown, so in a round each has its own agents; they share only the accounts for fees and
 * for outside money, whose sums do not depend on the order.
 */
export async function runMoneyModel(
  storages: readonly [Storage, ...Storage[]],
  { seed, operations, onProgress = () => {} }: ModelOptions,
): Promise<ModelResult> {
  const random = createSeededRandom(seed);
  const services = await createServices(storages[0], seed);
  const agents = Array.from({ length: AGENTS }, () => newId(services.runtime));
  const chooser = new OperationChooser(random, agents);
  const book = new MoneyBook(services.config.payments.platformFeeRate);
  const withdrawalIds = new Map<string, string>();
  const relays = storages.map(
    (storage) => new MoneyRelay({ ...services, storage }, book, withdrawalIds),
  );
  const outcomes: Record<string, number> = {};
  let done = 0;
  let compareAt = 0;
  while (done < operations) {
    const divided = chooser.divide(relays.length);
    const shares: Share[] = [];
    for (const [at, relay] of relays.entries()) {
      const count = Math.min(1 + random.below(MAX_AT_ONCE), operations - done);
      shares.push({ relay, operations: chooser.choose(book, divided[at] ?? [], count) });
      done += count;
    }
    const differences = await runRound(shares, book, outcomes);
    if (differences.length > 0) throw new Error(`seed ${seed}, before ${done}: ${differences[0]}`);
    if (done >= compareAt || done === operations) {
      compareAt += operations / COMPARISONS;
      await compareAccounts(storages[0], book, `seed ${seed}, after ${done}`);
      onProgress(done);
    }
  }
  return { operations: done, outcomes };
}

/** Runs operations at all processes and in the book, counts the outcomes and lists those that differ. */
async function runRound(
  shares: readonly Share[],
  book: MoneyBook,
  outcomes: Record<string, number>,
): Promise<string[]> {
  // A process runs its transactions in the order of the calls, and so does the book.
  const running = shares.map(({ relay, operations }) =>
    operations.map((each) => relay.apply(each)),
  );
  const chosen = shares.flatMap(({ operations }) => operations);
  const expected = chosen.map((operation) => book.apply(operation));
  const actual = await Promise.all(running.flat());
  for (const outcome of actual) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return chosen.flatMap((operation, at) =>
    actual[at] === expected[at]
      ? []
      : [`${JSON.stringify(operation)} was ${actual[at]}, not ${expected[at]}`],
  );
}

async function createServices(storage: Storage, seed: number): Promise<MoneyServices> {
  const { now, schedule } = createManualClock();
  const runtime = { now, schedule, randomBytes: createSeededRandom(seed + 1).randomBytes };
  const read = readConfig({
    AGENT_API_TOKEN: "unused",
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  });
  if (!read.ok) throw new Error("the configuration is invalid");
  const loaded = await loadRelayIdentity(storage, runtime, undefined);
  if (!loaded.ok) throw new Error(loaded.detail);
  const ignore = (): void => {};
  const log = createLog({ level: "error", write: { stdout: ignore, stderr: ignore }, now });
  return { storage, runtime, identity: loaded.identity, config: read.config, log };
}

/** Applies operations to the relay's own rows. */
class MoneyRelay {
  readonly #services: MoneyServices;
  readonly #book: MoneyBook;
  /** Shared by all processes, because a withdrawal may be resolved by another process. */
  readonly #withdrawalIds: Map<string, string>;

  constructor(services: MoneyServices, book: MoneyBook, withdrawalIds: Map<string, string>) {
    this.#services = services;
    this.#book = book;
    this.#withdrawalIds = withdrawalIds;
  }

  async apply(operation: MoneyOperation): Promise<MoneyOutcome> {
    const { storage, runtime } = this.#services;
    const entry = { reference: null, description: null };
    switch (operation.kind) {
      case "deposit": {
        const { agentId, amount, reference } = operation;
        const amountOf = { amount: fromMicro(amount), currency: "USD" as const };
        const body = { ...amountOf, ...(reference !== undefined && { reference }) };
        return outcomeOf(await deposit(this.#services, agentId, body));
      }
      case "reverse": {
        const { agentId, amount } = operation;
        const credit = { agentId, amount, ...entry };
        return outcomeOf(await storage.transaction((tx) => reverseDeposit(tx, runtime, credit)));
      }
      case "withdraw": {
        const { agentId, amount, name } = operation;
        const body = { amount: fromMicro(amount), destination: "out" };
        const asked = await requestWithdrawal(this.#services, agentId, body, { caller });
        if ("body" in asked) this.#withdrawalIds.set(name, asked.body.withdrawal_id);
        return outcomeOf(asked);
      }
      case "resolve": {
        const { name, isPaid } = operation;
        const outcome = isPaid ? { payout_reference: "wire" } : { reason: "refused" };
        const id = this.#withdrawalIds.get(name) ?? "unknown";
        return outcomeOf(await resolveWithdrawal(this.#services, id, outcome, { caller }));
      }
      case "hold": {
        const { agentId: payerId, taskId, charge, maxBudget } = operation;
        const request = { payerId, taskId, charge, maxBudget };
        return outcomeOf(await storage.transaction((tx) => reserveHold(tx, runtime, request)));
      }
      case "release":
      case "settle":
        return this.#end(operation);
    }
  }

  /** Ends a task by its hold, which is still open in the book. */
  async #end(
    operation: Extract<MoneyOperation, { kind: "release" | "settle" }>,
  ): Promise<MoneyOutcome> {
    const { storage, runtime } = this.#services;
    const { taskId: task_id } = operation;
    const hold = this.#book.holds.get(task_id);
    if (hold === undefined) throw new Error("only open tasks are chosen");
    const { payerId: submitted_by, charge, locked } = hold;
    const task = { task_id, submitted_by, charge, locked, allocation_id: task_id };
    if (operation.kind === "release") {
      await storage.transaction((tx) => releaseHold(tx, runtime, task, "released"));
      return "ok";
    }
    const { payeeId, status } = operation;
    const receipt = { receiptHash: task_id, payeeId, status };
    return outcomeOf(
      await storage.transaction((tx) => settleFromHold(tx, this.#services, task, receipt)),
    );
  }
}

function outcomeOf(answer: object): MoneyOutcome {
  return "code" in answer ? String(answer.code) : "ok";
}

type StoredAccount = Pick<AccountRow, "account" | "balance" | "held" | "pending_withdrawals">;

/** All accounts except the holds of ended tasks. */
const accountsInUse = compile()(
  sql<StoredAccount>`
    select account, balance, held, pending_withdrawals from accounts
    where account not like 'held:%' or balance <> 0`,
);

const sums = compile()(
  sql<{ total: number; differing: number }>`
    select sum(balance) as total, sum(case when balance = posted then 0 else 1 end) as differing
    from accounts left join
      (select account, sum(amount) as posted from postings group by account) as sums using (account)`,
);

/** Compares every account with the book and with its postings, and the total with 0. */
async function compareAccounts(storage: Storage, book: MoneyBook, where: string): Promise<void> {
  const rows = await storage.read.all(accountsInUse, {});
  const stored = new Map(rows.map((row) => [row.account, row]));
  // The relay also stores pending withdrawals as holds, with ids of their own.
  const [waiting, holds] = [true, false].map((isWithdrawal) =>
    rows
      .filter(({ account }) => account.startsWith("held:"))
      .map(({ account, balance }) => [account.slice(5), balance] as const)
      .filter(([id]) => isUuid(id) === isWithdrawal),
  );
  const actual = {
    sums: await storage.read.get(sums, {}),
    fees: stored.get("relay:fees")?.balance ?? 0,
    waiting: sumOf(waiting?.map(([, balance]) => balance)),
    holds: Object.fromEntries(holds ?? []),
    purses: Object.fromEntries(
      [...book.purses.keys()].map((id) => {
        const {
          balance = 0,
          held = 0,
          pending_withdrawals: pending = 0,
        } = stored.get(`agent:${id}`) ?? {};
        return [id, { balance, held, pending }];
      }),
    ),
  };
  const expected = {
    sums: { total: 0, differing: 0 },
    fees: book.fees,
    waiting: sumOf([...book.purses.values()].map(({ pending }) => pending)),
    holds: Object.fromEntries([...book.holds].map(([id, { locked }]) => [id, locked])),
    purses: Object.fromEntries(book.purses),
  };
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${where}: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
  }
}

function sumOf(amounts: readonly number[] = []): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
