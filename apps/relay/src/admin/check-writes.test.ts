import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let folder: string;
let path: string;
let t: TestRelay;

/** Keeps every write of the relay from the database, as a full disk does, while `work` runs. */
async function refuseWrites<T>(work: () => Promise<T>): Promise<T> {
  const outside = new Sqlite(path);
  outside.exec("BEGIN IMMEDIATE");
  try {
    return await work();
  } finally {
    outside.close();
  }
}

const READS = [
  ["/api/v1/admin/overview", { database: { write_fault: expect.any(String) as string } }],
  ["/api/v1/admin/events", { events: [{ type: "relay.frozen" }], delayed: true }],
  ["/api/v1/admin/series?metric=submitted", { metric: "submitted", delayed: true }],
] as const;

describe.runIf(onlyOn("sqlite"))("a database that accepts no writes", () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "check-writes-"));
    path = join(folder, "relay.db");
    t = await startTestRelay({ AGENT_DB_PATH: path });
  });
  afterEach(async () => {
    await t.close();
    rmSync(folder, { recursive: true });
  });

  test("OP21: reads of the operator show what is numbered while the database accepts no writes, and say so", async () => {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "a test" });
    await t.asOperator("GET", "/api/v1/admin/events");
    await t.asOperator("POST", "/api/v1/admin/unfreeze", {});
    await refuseWrites(async () => {
      for (const [address, body] of READS) {
        expect(await t.asOperator("GET", address)).toMatchObject({ status: 200, body });
      }
    });
    for (const [address] of READS) {
      const { status, text } = await t.asOperator("GET", address);
      expect([status, text]).toEqual([200, expect.not.stringMatching(/delayed|write_fault/)]);
    }
    const { body } = await t.asOperator("GET", "/api/v1/admin/events");
    expect(body).toMatchObject({ events: [{ type: "relay.frozen" }, { type: "relay.unfrozen" }] });
  });

  test("OP22: a relay whose database accepts no writes is not ready and says why, and is ready as soon as it writes", async () => {
    const isReady = () => t.request("GET", "/health/ready");
    await refuseWrites(async () => {
      const refused = await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "a test" });
      expect(refused).toMatchObject({ status: 503, body: { code: "server.unavailable" } });
      expect(await isReady()).toMatchObject({
        status: 503,
        body: {
          code: "server.not_ready",
          checks: expect.arrayContaining([
            {
              check: "database",
              ok: false,
              detail: "the database could not write: database is locked",
            },
          ]) as unknown,
        },
      });
    });
    expect(await isReady()).toMatchObject({
      status: 200,
      body: {
        checks: expect.arrayContaining([
          { check: "database", ok: true, detail: "answers" },
        ]) as unknown,
      },
    });
  });
});
