import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  booksOf,
  positionsOf,
  startNetwork,
  submitFor,
  taskFor,
  until,
  work,
  type Site,
} from "../../test/network.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let a: Site;
let b: Site;
beforeEach(async () => {
  network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  [a, b] = network.sites as [Site, Site];
});
afterEach(() => network.close());

describe("two relays over sockets", () => {
  test("price 1.00: 0.05 to the first, 0.0475 to the second, 0.9025 to the worker", async () => {
    const boss = await a.agent();
    await a.deposit(boss, 10);
    const worker = await b.worker(1);

    const submitted = await submitFor(a, boss);
    expect(submitted).toMatchObject({
      status: 201,
      body: {
        estimated_cost: 1,
        routing_choice: {
          selected_agent: worker.agentId,
          routing_paths: [["self", `relay:${a.relayId}`, `relay:${b.relayId}`, worker.agentId]],
        },
      },
    });
    const task = await taskFor(b, worker);
    expect(task.task_id).toBe(submitted.body["task_id"]);
    expect(await work(b, worker, task)).toMatchObject({ status: 200 });

    await until(async () => (await a.balance(boss)) === 9, "the payer is charged");
    await until(async () => (await b.balance(worker)) === 0.9025, "the worker is paid");
    expect(await positionsOf(a)).toEqual({ [b.relayId]: 0.95 });
    expect(await positionsOf(b)).toEqual({ [a.relayId]: -0.95 });
    expect(await booksOf(a)).toMatchObject({ consistent: true, totals: { fees: 0.05, holds: 0 } });
    expect(await booksOf(b)).toMatchObject({
      consistent: true,
      totals: { fees: 0.0475, holds: 0 },
    });
  });
});
