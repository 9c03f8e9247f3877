import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { beginCase, createParties, giveVerdict } from "../../test/inspections.ts";
import { submitAcceptedTask } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const METHODS = ["run", "get", "all"] as const;
type SpiedStatement = Record<(typeof METHODS)[number], (...values: unknown[]) => unknown>;

let t: TestRelay;
let takeRun: () => string[];
beforeEach(async () => {
  const database = new Sqlite(":memory:");
  const prototype = Object.getPrototypeOf(database.prepare("select 1")) as SpiedStatement;
  database.close();
  const spies = METHODS.map((method) => vi.spyOn(prototype, method));
  /** Returns the texts of the statements that ran since the last call. */
  takeRun = () =>
    spies.flatMap((spy) => {
      const statements = spy.mock.contexts as unknown as readonly Sqlite.Statement[];
      const texts = statements.map(({ source }) => source);
      spy.mockClear();
      return texts;
    });
  t = await startTestRelay();
});
afterEach(async () => {
  await t.close();
  vi.restoreAllMocks();
});

const listInspecting = (texts: readonly string[]) =>
  texts.filter((text) => /\binspections\b/.test(text));

test.runIf(onlyOn("sqlite"))(
  "a task without acceptance runs no statement about inspections",
  async () => {
    const parties = await createParties(t);
    const { boss, worker } = parties;
    takeRun();
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "GET", task.path);
    const delivered = await t.as(
      worker,
      "POST",
      `${task.path}/result`,
      createReceipt(worker, task),
    );
    expect(delivered.status).toBe(200);
    await t.as(boss, "GET", task.path);
    await t.as(boss, "GET", `${task.path}/evidence`);
    const statements = takeRun();
    expect(statements.length).toBeGreaterThan(10);
    expect(listInspecting(statements)).toEqual([]);
    // The same check finds such statements in a task with acceptance.
    const given = await beginCase(t, parties);
    await giveVerdict(t, given, "accepted");
    expect(listInspecting(takeRun()).length).toBeGreaterThan(0);
  },
);
