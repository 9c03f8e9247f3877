import { randomUUID } from "node:crypto";
import { accountOf, buildDepositPostings, toMicro } from "@agent/budget";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { openConnection } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openDatabaseOf } from "../../../test/engine/database-of-path.ts";
import { onlyOn } from "../../../test/engine/engine.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { loadFreezer } from "../../admin/freeze.ts";
import { readConfig } from "../../config/read-config.ts";
import { loadRelayIdentity, type RelayIdentity } from "../../identity/relay-identity.ts";
import { migrations } from "../../storage/migrations/index.ts";
import type { Storage } from "../../storage/storage.ts";
import { postMovement } from "../post-movement.ts";
import { findAccount } from "../store.ts";
import { deposit } from "./deposit.ts";

const agentId = "018f5d3a-0000-7000-8000-000000000001";
const accountOfAgent = accountOf.agent(agentId);

describe.runIf(onlyOn("postgres"))("deposits beside another program", () => {
  const read = readConfig({
    AGENT_API_TOKEN: "unused",
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  });
  if (!read.ok) throw new Error("the configuration is invalid");
  const { config } = read;
  const runtime = { ...createManualClock(), randomBytes: createSeededRandom(1).randomBytes };
  let storage: Storage;
  let identity: RelayIdentity;
  let other: Awaited<ReturnType<typeof openConnection>>;
  /** The number of times that the work of a transaction ran. */
  let runs: number;

  beforeEach(async () => {
    const path = randomUUID();
    const opened = await openMigrated({ path, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    const counted: Storage = {
      ...opened.storage,
      transaction: (work, isolation) =>
        opened.storage.transaction((tx) => {
          runs += 1;
          return work(tx);
        }, isolation),
    };
    // The same storage that requests get.
    ({ storage } = await loadFreezer(counted, runtime));
    const loaded = await loadRelayIdentity(storage, runtime, undefined);
    if (!loaded.ok) throw new Error(loaded.detail);
    ({ identity } = loaded);
    other = await openConnection(await openDatabaseOf(path));
    runs = 0;
  });
  afterEach(async () => {
    await other.end();
    await storage.close();
  });

  const pay = (amount: number) =>
    deposit({ storage, runtime, identity, config }, agentId, { amount, currency: "USD" });
  const balanceOf = async (account: string) => (await findAccount(storage.read, account))?.balance;

  /** Resolves when the relay waits for a lock of the other program. */
  const untilItWaits = () =>
    vi.waitFor(async () => {
      const { rows } = await other.query(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    });

  const moveWorld = `UPDATE accounts SET balance = balance - 5000000, sequence = sequence + 1
    WHERE account = 'world'`;

  test("a deposit waits for another program that changes the account, reads what it wrote and runs once", async () => {
    await pay(1);
    runs = 0;
    await other.query("BEGIN");
    await other.query(moveWorld);
    const paying = pay(2);
    await untilItWaits();
    await other.query("COMMIT");
    expect(await paying).toMatchObject({ status: 200, body: { balance: 3 } });
    expect(runs).toBe(1);
    expect(await balanceOf("world")).toBe(-8_000_000);
  });

  test("a deposit that opens an account while another program does so runs again and loses nothing", async () => {
    await other.query("BEGIN");
    await other.query(
      `INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
       VALUES ('world', -5000000, 0, 0, 1)`,
    );
    const paying = pay(2);
    await untilItWaits();
    await other.query("COMMIT");
    expect(await paying).toMatchObject({ status: 200, body: { balance: 2 } });
    expect(runs).toBe(2);
    expect(await balanceOf("world")).toBe(-7_000_000);
  });

  test.each(["as a deposit names them", "the other way round"])(
    "a deposit locks accounts in one order, %s, so that two movements never wait for each other",
    async (order) => {
      await pay(1);
      const named = buildDepositPostings({ agentId, amount: toMicro(2) });
      const postings = order === "the other way round" ? named.toReversed() : named;
      const entry = { reference: null, description: null };
      runs = 0;
      await other.query("BEGIN");
      const moveAgent = moveWorld
        .replace("- 5000000", "+ 5000000")
        .replace("world", accountOfAgent);
      await other.query(moveAgent);
      const moved = storage.transaction(
        (tx) => postMovement(tx, runtime, postings, entry),
        "locked",
      );
      await untilItWaits();
      // Would wait for the relay, which waits for this program, if the relay had locked it first.
      await other.query(moveWorld);
      await other.query("COMMIT");
      expect(await moved).toMatchObject({ ok: true });
      expect(runs).toBe(1);
      expect(await balanceOf("world")).toBe(-8_000_000);
    },
  );

  test("two deposits with one reference credit once, whichever commits first", async () => {
    await other.query("BEGIN");
    await other.query("INSERT INTO deposit_references VALUES ($1, 'once')", [agentId]);
    const body = { amount: 2, currency: "USD" as const, reference: "once" };
    const paying = deposit({ storage, runtime, identity, config }, agentId, body);
    await untilItWaits();
    await other.query("COMMIT");
    expect(await paying).toMatchObject({ status: 200, body: { idempotent: true, balance: 0 } });
    expect(runs).toBe(1);
  });
});
