import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createReceipt } from "@agent/testkit";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  submitTask,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay | undefined;
const folder = mkdtempSync(join(tmpdir(), "relay-expire-"));
afterEach(() => t?.close());
afterAll(() => rmSync(folder, { recursive: true }));

describe("unfinished tasks", () => {
  test("an unfinished task is removed when it expires, and its hold is returned once", async () => {
    t = await startTestRelay({ AGENT_TASK_TTL_MS: "60000" });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const { path } = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(59_999);
    await t.relay.tick();
    expect(await t.getBalance(boss)).toBe(7.6);
    await t.clock.advance(1_001);
    await t.relay.tick();
    await t.clock.advance(1_000);
    await t.relay.tick();
    expect(await t.getBalance(boss)).toBe(10);
    expect((await t.as(boss, "GET", path)).status).toBe(404);
    expect(t.listLogged("task.expired")).toHaveLength(1);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("B12: a task lives longer than the relay's default if it requests that, and then its hold returns", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const long = await submitAcceptedTask(t, boss, worker, { ttl_ms: 7_200_000 });
    const paid = await submitAcceptedTask(t, boss, worker, { ttl_ms: 7_200_000 });
    await t.clock.advance(3_500_000);
    await t.relay.tick();
    const receipt = createReceipt(worker, paid);
    expect(await t.as(worker, "POST", `${paid.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
    await t.clock.advance(3_699_999);
    await t.relay.tick();
    expect((await t.as(boss, "GET", long.path)).body).toMatchObject({
      task: { status: "pending" },
    });
    await t.clock.advance(1_001);
    await t.relay.tick();
    expect((await t.as(boss, "GET", long.path)).status).toBe(404);
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("RC20 a receipt after expiry is answered with 404, the hold is returned, and nothing is paid", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const tasks = [
      await submitAcceptedTask(t, boss, worker),
      await submitAcceptedTask(t, boss, worker),
    ];
    await t.clock.advance(900_000);
    for (const task of tasks) {
      const late = await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
      expect(late).toMatchObject({ status: 404, body: { code: "task.not_found" } });
      await t.relay.tick();
    }
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([10, 0]);
    await expectConsistentBooks(t, { holds: 0, fees: 0 });
  });

  test("RC20 a receipt at the moment of expiry is either paid, or answered with 404 and the hold is returned", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 2)];
    let paid = 0;
    for (let i = 0; i < 10; i++) {
      const task = await submitAcceptedTask(t, boss, worker);
      await t.clock.advance(899_999);
      const token = await t.token(worker);
      const body = createReceipt(worker, task);
      // Odd rounds advance the clock while the receipt is on its way to the transaction.
      const posted = t.request("POST", `${task.path}/result`, { token, body });
      if (i % 2 === 1) await t.clock.advance(1);
      await t.relay.tick();
      const { status } = await posted;
      expect([200, 404]).toContain(status);
      if (status === 200) paid += 1;
      await t.clock.advance(1);
      await t.relay.tick();
      await expectConsistentBooks(t, { holds: 0 });
    }
    expect(await t.getBalance(worker)).toBeCloseTo(1.9 * paid, 6);
  });

  test("the hold of an unfinished task is returned even if the relay was down when the task expired", async () => {
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    t = await startTestRelay(env);
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const { path } = await submitAcceptedTask(t, boss, worker);
    await t.close();
    t = await startTestRelay(env, 2);
    await t.clock.advance(900_000);
    await t.relay.tick();
    expect(await t.getBalance(boss)).toBe(10);
    expect((await t.asOperator("GET", path)).status).toBe(404);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("an unfinished task that expires frees a slot for its submitter, even if many expire at once", async () => {
    t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 0.5)];
    for (let i = 0; i < 10; i++) {
      await Promise.all(Array.from({ length: 60 }, () => submitAcceptedTask(t!, boss, worker)));
    }
    await t.clock.advance(900_000);
    await t.relay.tick();
    expect(t.listLogged("task.expired")).toHaveLength(600);
    expect(await t.getBalance(boss)).toBe(1_000);
    expect((await submitTask(t, boss, worker)).status).toBe(201);
  });
});
