import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { startLossyProxy, type ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  getReconciliation,
  addPeer,
  getPeerPositions,
  startSite,
  submitToBest,
  waitForTask,
  completeTask,
  type TestSite,
  startBehindProxy,
  advanceUntil,
} from "../../test/network/network.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "restore-middle-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("A8: a middle relay that lost a settlement with each neighbour recovers both, and pays nothing twice", async () => {
  const clock = createManualClock();
  let chooseAction: (path: string) => ProxyAction = () => "pass";
  const proxy = await startLossyProxy((path) => chooseAction(path));
  const file = join(folder, "beta.db");
  const middle = (seed: number) => {
    const env = { AGENT_DB_PATH: file };
    return startBehindProxy(proxy, { name: "beta", clock, seed, env });
  };
  const backup = join(folder, "backup");
  const [a, c] = await Promise.all([
    startSite({ name: "alpha", clock, seed: 1 }),
    startSite({ name: "gamma", clock, seed: 3 }),
  ]);
  let b: TestSite = await middle(2);
  await addPeer(a, b);
  await addPeer(b, c);
  const [boss, worker] = [await a.createAgent(), await c.createWorker(1)];
  await a.deposit(boss, 10);
  const pass = (what: string, stepMs: number, done: () => Promise<boolean>) =>
    advanceUntil(clock, [a, b, c], { stepMs, what }, done);
  const outboxOf = async (site: TestSite) => {
    const { body } = await site.asOperator("GET", "/api/v1/admin/federation/outbox");
    return body["settlements"] as Record<string, unknown>[];
  };

  chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
  await submitToBest(a, boss);
  await completeTask(c, worker, await waitForTask(c, worker));
  await pass("the first attempt is lost", 1_000, async () =>
    (await outboxOf(a)).some(({ last_error }) => typeof last_error === "string"),
  );
  await backUpStored(file, backup);
  chooseAction = () => "pass";
  const isPaid = async () => (await c.getBalance(worker)) === 0.857375;
  await pass("the worker is paid", 10_000, isPaid);
  await pass(
    "all is settled",
    10_000,
    async () => (await getPeerPositions(b))[c.relayId] === 0.9025,
  );
  const positions = { [a.relayId]: -0.95, [c.relayId]: 0.9025 };
  expect(await getPeerPositions(b)).toEqual(positions);

  await b.close();
  await clock.advance(5_000);
  await restoreStored(file, backup, clock.now());
  b = await middle(9);
  expect(await getPeerPositions(b)).not.toEqual(positions);
  await b.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
  await pass("both books of the middle heal", 600_000, async () => {
    return (await outboxOf(b)).some(({ state }) => state !== "pending");
  });
  expect(await outboxOf(b)).toMatchObject([{ state: "completed", refunded: false }]);
  expect(await getPeerPositions(b)).toEqual(positions);
  expect(await getPeerPositions(c)).toEqual({ [b.relayId]: -0.9025 });
  expect(await isPaid()).toBe(true);
  for (const site of [a, b, c]) {
    expect(await getReconciliation(site)).toMatchObject({
      consistent: true,
      totals: { holds: 0 },
    });
  }
  await Promise.all([a.close(), b.close(), c.close(), proxy.close()]);
});
