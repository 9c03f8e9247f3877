import { createReceipt, type TestAgent } from "@agent/testkit";
import type { Transaction } from "@agent/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  submitAcceptedTask,
  getAgentStates,
  putListing,
  submitTask,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

/** Converts to micro-units, because the model calculates like the relay and not in floating point. */
const micro = (dollars: number) => Math.round(dollars * 1_000_000);

const feeOf = (charge: number) => Math.floor((charge * 50_000 + 500_000) / 1_000_000);

interface OpenTask extends Delegation {
  readonly payer: number;
  readonly payee: number;
  readonly charge: number;
  readonly locked: number;
  readonly expiresAt: number;
}

/** The expected balances, computed from the rules alone. */
interface Model {
  readonly balances: number[];
  readonly prices: number[];
  readonly open: OpenTask[];
  fees: number;
  deposited: number;
}

interface World {
  readonly t: TestRelay;
  readonly agents: readonly TestAgent[];
}

type Step = (world: World, model: Model) => Promise<void>;

const agent = fc.nat({ max: 2 });
const dollars = fc.integer({ min: 1, max: 5_000_000 }).map((amount) => amount / 1_000_000);

const depositStep = fc.tuple(agent, dollars).map(([to, amount]): Step => {
  return async ({ t, agents }, model) => {
    await t.deposit(agents[to]!, amount);
    model.balances[to]! += micro(amount);
    model.deposited += micro(amount);
  };
});

const priceStep = fc.tuple(agent, fc.oneof(fc.constant(0), dollars)).map(([of, price]): Step => {
  return async ({ t, agents }, model) => {
    await putListing(t, agents[of]!, price);
    model.prices[of] = micro(price);
  };
});

const submitStep = fc.tuple(agent, agent, fc.option(dollars)).map(([payer, payee, cap]): Step => {
  return async ({ t, agents }, model) => {
    const charge = model.prices[payee]!;
    const available = Math.min(model.balances[payer]!, cap === null ? Infinity : micro(cap));
    const [by, target] = [agents[payer]!, agents[payee]!];
    const body = cap === null ? {} : { max_budget: cap };
    if (available < charge) {
      return expectStatus(402, submitTask(t, by, target, body));
    }
    const task = await submitAcceptedTask(t, by, target, body);
    const locked = charge === 0 ? 0 : Math.min(Math.floor((charge * 12 + 5) / 10), available);
    model.balances[payer]! -= locked;
    model.open.push({ ...task, payer, payee, charge, locked, expiresAt: t.clock.now() + 900_000 });
  };
});

const outcome = fc.constantFrom("completed", "completed", "failed", "denied" as const);

const resultStep = fc.tuple(fc.nat(), outcome).map(([pick, status]): Step => {
  return async ({ t, agents }, model) => {
    const task = take(model, pick);
    if (task === undefined) return;
    const worker = agents[task.payee]!;
    const receipt = createReceipt(worker, task, { status });
    const post = () => t.as(worker, "POST", `${task.path}/result`, receipt);
    await expectStatus(200, post());
    await expectStatus(200, post());
    const charge = status === "completed" ? task.charge : 0;
    model.balances[task.payer]! += task.locked - charge;
    model.balances[task.payee]! += charge - feeOf(charge);
    model.fees += feeOf(charge);
  };
});

const cancelStep = fc.nat().map((pick): Step => {
  return async ({ t, agents }, model) => {
    const task = take(model, pick);
    if (task === undefined) return;
    await expectStatus(200, t.as(agents[task.payer]!, "POST", `${task.path}/cancel`));
    model.balances[task.payer]! += task.locked;
  };
});

const expireStep = fc.constantFrom(60_000, 450_000, 900_000).map((ms): Step => {
  return async ({ t }, model) => {
    await t.clock.advance(ms);
    await t.relay.tick();
    for (let i = model.open.length - 1; i >= 0; i -= 1) {
      if (model.open[i]!.expiresAt > t.clock.now()) continue;
      const [{ payer, locked }] = model.open.splice(i, 1) as [OpenTask];
      model.balances[payer]! += locked;
    }
  };
});

async function expectStatus(status: number, reply: Promise<Reply>): Promise<void> {
  expect(await reply).toMatchObject({ status });
}

function take(model: Model, pick: number): OpenTask | undefined {
  const [task] = model.open.length === 0 ? [] : model.open.splice(pick % model.open.length, 1);
  return task;
}

/** MN12: each balance follows from the one before it, and the newest is the account's balance. */
function expectRunningSums(transactions: readonly Transaction[], balance: number): void {
  const [first] = transactions.slice(-1);
  // The balance record shows the newest 50; the sum starts with the balance before them.
  let sum = first === undefined ? 0 : micro(first.balance_after) - micro(first.amount);
  if (transactions.length < 50) expect(sum).toBe(0);
  for (const { amount, balance_after } of transactions.toReversed()) {
    sum += micro(amount);
    expect(micro(balance_after)).toBe(sum);
  }
  expect(sum).toBe(micro(balance));
}

test("accounts follow the rules and the books are consistent after any history", async () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: depositStep },
    { weight: 1, arbitrary: priceStep },
    { weight: 4, arbitrary: submitStep },
    { weight: 3, arbitrary: resultStep },
    { weight: 1, arbitrary: cancelStep },
    { weight: 1, arbitrary: expireStep },
  );
  const histories = fc.array(step, { minLength: 5, maxLength: 30 });
  await fc.assert(fc.asyncProperty(histories, happens), { numRuns: 25 });
});

async function happens(steps: readonly Step[]): Promise<void> {
  const t = await startTestRelay();
  try {
    const agents = [await t.createAgent(), await t.createAgent(), await t.createAgent()];
    const model: Model = {
      balances: [0, 0, 0],
      prices: [0, 0, 0],
      open: [],
      fees: 0,
      deposited: 0,
    };
    for (const step of steps) {
      await step({ t, agents }, model);
      await expectAsModelled(t, agents, model);
    }
  } finally {
    await t.close();
  }
}

async function expectAsModelled(t: TestRelay, agents: readonly TestAgent[], model: Model) {
  const held = model.open.reduce((sum, { locked }) => sum + locked, 0);
  const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
  const totals = body["totals"] as Record<string, number>;
  expect(body).toMatchObject({ consistent: true });
  expect({ ...totals, holds: micro(totals["holds"]!), fees: micro(totals["fees"]!) }).toMatchObject(
    {
      holds: held,
      fees: model.fees,
    },
  );
  expect(micro(totals["deposits"]!)).toBe(model.deposited);
  for (const [i, of] of (await getAgentStates(t, agents)).entries()) {
    expect(micro(of.balance)).toBe(model.balances[i]);
    const own = model.open.filter(({ payer }) => payer === i);
    expect(micro(of.pending_allocations)).toBe(own.reduce((sum, { locked }) => sum + locked, 0));
    expectRunningSums(of.transactions, of.balance);
  }
}
