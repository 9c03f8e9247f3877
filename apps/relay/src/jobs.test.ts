import { afterEach, expect, test } from "vitest";
import type { FederationWork } from "./federation/federation-work.ts";
import { createJobs } from "./jobs.ts";
import { createSoleMembership } from "./processes/membership.ts";
import type { Services } from "./services.ts";
import { BATCH_SIZE } from "./storage/run-in-batches.ts";
import { createBuyer, submitAcceptedTask, createSeller } from "../test/market.ts";
import { startTestRelay, type TestRelay } from "../test/test-relay.ts";

let t: TestRelay | undefined;
afterEach(async () => {
  await t?.close();
  t = undefined;
});

test("a job that fails is logged, and the others still run", async () => {
  t = await startTestRelay();
  await t.relay.close();
  await expect(t.relay.tick()).resolves.toBeUndefined();
  const failed = t.listLogged("job.failed").map(({ job }) => job);
  // On Postgres a closed process no longer leads, so only the jobs that run at every process run.
  expect(failed).toContain("deliver-webhooks");
  expect(failed).toContain("integrate-log");
});

test("a job runs only when it is due, not at every tick", async () => {
  t = await startTestRelay({ AGENT_TASK_TTL_MS: "1" });
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.relay.tick();
  await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(999);
  await t.relay.tick();
  expect(t.listLogged("task.expired")).toEqual([]);
  await t.clock.advance(1);
  await t.relay.tick();
  expect(t.listLogged("task.expired")).toHaveLength(1);
});

test.each([true, false])(
  "FE37: a process tries the tasks again that its peers did not accept, whether it leads or not (%s)",
  async (leads) => {
    const ran: string[] = [];
    const services = {
      config: { federation: { heartbeatIntervalMs: 60_000 }, books: {}, witness: {} },
      clock: { elapsed: () => 0 },
      // Only the jobs that also run while the relay is frozen, because the others need a database.
      freezer: { frozen: () => ({ reason: "a test" }), writeAlways() {} },
      relayLog: { isOn: false },
      processes: {
        ...createSoleMembership("one of two"),
        isLeader: () => leads,
        hasSoundClock: () => true,
      },
      log: { error: () => {} },
      jobMonitor: { recordRun: () => {}, delete: () => {} },
      storage: {},
    } as unknown as Services;
    const work = {
      heartbeat: () => void ran.push("heartbeat"),
      retryUndelivered: () => void ran.push("retry"),
    } as unknown as FederationWork;
    await createJobs(services, work).tick();
    expect(ran).toEqual(leads ? ["heartbeat", "retry"] : ["retry"]);
  },
);

test("every due job runs even if each purge has an endless backlog", async () => {
  const purges = [
    "purge-old-tasks",
    "purge-idempotency-keys",
    "purge-spent-tokens",
    "purge-old-decisions",
    "purge-old-pairings",
    "purge-old-arguments",
  ];
  const ran: string[] = [];
  let transactions = 0;
  const services = {
    config: { storage: { retentionDays: 1 }, books: { reconcileIntervalMs: 1 } },
    runtime: { now: () => 1e12 },
    clock: {
      elapsed: () => 1e12,
      lastMovedAt: () => 0,
      lastMovedForwardAt: () => 0,
      lastMovedBackAt: () => 0,
    },
    freezer: { frozen: () => undefined },
    relayLog: { isOn: false },
    processes: createSoleMembership("alone"),
    log: { error: () => {} },
    jobMonitor: {
      recordRun: ({ name }: { name: string }, ok: boolean) => void (ok && ran.push(name)),
    },
    storage: {
      // As if each batch found the table as full as the batch before it.
      async transaction() {
        transactions += 1;
        return BATCH_SIZE;
      },
    },
  } as unknown as Services;
  await createJobs(services).tick();
  expect(ran).toEqual(expect.arrayContaining(purges));
  expect(transactions).toBeLessThan(1_400);
});
