import { randomUUID } from "node:crypto";
import { createDatabase, dropDatabase, runStatement } from "@agent/test-postgres";
import { createManualClock } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkDatabaseOrigin } from "../../src/admin/restore/check-origin.ts";
import { commands, type CommandInput } from "../../src/database-commands.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import { createBuyer } from "../market.ts";
import { startTestRelay, type TestRelay } from "../test-relay.ts";
import { toUrl } from "./database-of-path.ts";
import { getServer } from "./engine.ts";

const clock = createManualClock();
/** The time of the clock in POSIX seconds. */
const SECONDS = clock.now() / 1_000;

let path: string;
let t: TestRelay | undefined;
let seed = 0;
beforeEach(() => {
  path = randomUUID();
});
afterEach(() => t?.close());

const nameOf = (of: string) => new URL(toUrl(of)).pathname.slice(1);

async function start(at = path): Promise<TestRelay> {
  t = await startTestRelay({ AGENT_DB_PATH: at }, (seed += 1), clock);
  return t;
}

async function stop(): Promise<void> {
  await t?.close();
  t = undefined;
}

async function sayRestored(place: Pick<CommandInput, "url" | "path">) {
  const randomBytes = (length: number) => new Uint8Array(length);
  const call = { arguments: [], status: false, now: clock.now(), randomBytes, ...place };
  return commands["restored"]!.run(call);
}

const stored = async (at: string) => ({
  incarnation: await runStatement(toUrl(at), "SELECT number, database_id FROM incarnation"),
  freeze: await runStatement(toUrl(at), 'SELECT since, restored FROM "freeze"'),
});

const complete = (relay: TestRelay, withdrawalId: string) =>
  relay.asOperator("POST", `/api/v1/admin/withdrawals/${withdrawalId}/complete`, {
    payout_reference: "wire 1",
  });

describe("A8: a database that was restored beside the one that the relay went on with", () => {
  test("A8: a restored database starts no relay until its operator says so, and then a frozen one", async () => {
    const relay = await start();
    const { agentId } = await createBuyer(relay, 10);
    const asked = await relay.asOperator("POST", `/api/v1/agents/${agentId}/withdrawals`, {
      amount: 5,
      destination: "an account",
    });
    const withdrawalId = String(asked.body["withdrawal_id"]);
    await stop();
    // A restored backup is equivalent to a copy of the files.
    const restored = randomUUID();
    await createDatabase(getServer().serverUrl, nameOf(restored), nameOf(path));
    expect(await complete(await start(), withdrawalId)).toMatchObject({ status: 200 });
    await stop();

    const untouched = await stored(restored);
    await expect(start(restored)).rejects.toThrow(
      /^database\.restored: .* than the relay ran in .*`agent-relay restored`, then compare payments$/,
    );
    expect(await stored(restored)).toEqual(untouched);

    expect(await sayRestored({ url: toUrl(restored) })).toMatchObject({
      ok: true,
      text: expect.stringContaining(`is incarnation ${SECONDS} of the relay`) as string,
    });
    const again = await start(restored);
    expect((await again.request("GET", "/health")).body).toMatchObject({ incarnation: SECONDS });
    expect(again.listLogged("relay.restored")).toMatchObject([{ incarnation: SECONDS }]);
    expect(again.listLogged("relay.restored.withdrawal_pending")).toMatchObject([
      { withdrawal_id: withdrawalId },
    ]);
    const frozen = { status: 503, body: { code: "server.frozen" } };
    expect(await complete(again, withdrawalId)).toMatchObject(frozen);
    const unfreeze = "/api/v1/admin/unfreeze";
    expect(await again.asOperator("POST", unfreeze)).toMatchObject({ status: 400 });
    expect(await complete(again, withdrawalId)).toMatchObject(frozen);
    const thawed = await again.asOperator("POST", unfreeze, { restored: true });
    expect(thawed).toMatchObject({ status: 200 });
    await stop();
    // From now on this is the relay's recorded database.
    await start(restored);
  });

  test("A8: a second call raises the incarnation again, also within one second", async () => {
    await start();
    await stop();
    for (const number of [SECONDS, SECONDS + 1]) {
      expect(await sayRestored({ url: toUrl(path) })).toMatchObject({ ok: true });
      expect(await stored(path)).toMatchObject({
        incarnation: [{ number }],
        freeze: [{ since: clock.now(), restored: 1 }],
      });
    }
  });

  test("A8: the command refuses the database of a running relay and changes nothing", async () => {
    await start();
    const before = await stored(path);
    const refused = await sayRestored({ url: toUrl(path) });
    expect(refused).toMatchObject({
      ok: false,
      text: expect.stringContaining("database.locked") as string,
    });
    expect(await stored(path)).toEqual(before);
  });

  test("A8: the command refuses a file, whose command restore does the same", async () => {
    expect(await sayRestored({ path: "relay.db" })).toEqual({
      ok: false,
      text: "restored is for a PostgreSQL database; the database of a file is restored by restore FILE",
    });
  });

  test("A8: a role without special rights can read in which database it is", async () => {
    const { serverUrl, template } = getServer();
    const name = `${template}_role`;
    await runStatement(serverUrl, `CREATE ROLE "${name}" LOGIN PASSWORD 'unused'`);
    await runStatement(serverUrl, `CREATE DATABASE "${name}" OWNER "${name}"`);
    const url = new URL(serverUrl);
    url.username = name;
    url.password = "unused";
    url.pathname = `/${name}`;
    const opened = await openStorage({ url: url.href, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    expect(await checkDatabaseOrigin(opened.storage)).toEqual({ ok: true });
    expect(await runStatement(url.href, "SELECT database_id FROM incarnation")).toEqual([
      { database_id: expect.stringMatching(/^\d+\/\d+$/) as string },
    ]);
    await opened.storage.close();
    await dropDatabase(serverUrl, name);
    await runStatement(serverUrl, `DROP ROLE "${name}"`);
  });
});
