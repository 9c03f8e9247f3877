import { randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toUrl } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

describe.runIf(onlyOn("postgres"))(
  "a process that does not know yet that another one leads",
  () => {
    let path: string;
    let t: TestRelay;
    beforeEach(async () => {
      path = randomUUID();
      t = await startTestRelay({ AGENT_DB_PATH: path, AGENT_TASK_TTL_MS: "1" });
    });
    afterEach(() => t.close());

    const query = (text: string) => runStatement(toUrl(path), text);
    const count = async (rows: string) => (await query(`SELECT 1 FROM ${rows}`)).length;

    /** Gives the lease to another process, and returns the function that gives it back. */
    async function acquireLease(): Promise<() => Promise<unknown>> {
      const [lease] = await query("SELECT holder FROM leases WHERE name = 'leader'");
      await query("UPDATE leases SET holder = 'another', fence = fence + 1");
      const holder = String(lease?.["holder"]);
      return () => query(`UPDATE leases SET holder = '${holder}', fence = fence - 1`);
    }

    test("a process that lost leadership does not remove expired tasks", async () => {
      await submitAcceptedTask(t, await createBuyer(t, 10), await createSeller(t, 2));
      const giveBack = await acquireLease();
      await t.clock.advance(1_000);
      await t.relay.tick();
      expect(t.listLogged("job.failed")).toEqual([]);
      expect(await count("tasks")).toBe(1);
      await giveBack();
      await t.clock.advance(1_000);
      await t.relay.tick();
      expect(await count("tasks")).toBe(0);
    });

    test("a process that lost leadership does not sign heads of the log", async () => {
      await t.createAgent();
      await t.relay.transparencyLog.integrate();
      const heads = await count("log_heads");
      await t.createAgent();
      const giveBack = await acquireLease();
      await t.relay.transparencyLog.integrate();
      expect(await count("log_heads")).toBe(heads);
      await giveBack();
      await t.relay.transparencyLog.integrate();
      expect(await count("log_heads")).toBe(heads + 1);
    });
  },
);
