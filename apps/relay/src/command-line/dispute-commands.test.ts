import { afterAll, beforeAll, expect, test } from "vitest";
import { beginDispute, createParties, type Case } from "../../test/inspections.ts";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { runCommand } from "../../test/processes/operator-command.ts";
import { parsePercent } from "./dispute-commands.ts";
import type { OperatorOptions } from "./operator-command.ts";

test.each([
  ["0", 0],
  ["100", 1],
  ["33.3333", 0.333333],
  ["12.5", 0.125],
  ["25%", 0.25],
  ["0.5%", 0.005],
  ["100.1", undefined],
  ["-1", undefined],
  ["12.34567", undefined],
  ["half", undefined],
])("the share %s is read as %s", (text, share) => {
  expect(parsePercent(text)).toBe(share);
});

let t: ServedRelay;
let given: Case;
beforeAll(async () => {
  t = await serveTestRelay();
  given = await beginDispute(t, await createParties(t), { named: false });
});
afterAll(() => t.close());

const run = (name: string, args: readonly string[], options?: OperatorOptions) =>
  runCommand({ url: t.baseUrl, now: t.clock.now }, [name, ...args], options);

test("the command line lists waiting disputes, decides one, and lists it among the closed ones", async () => {
  const { task_id } = given.task;
  expect((await run("status", [])).out).toContain("1 dispute to decide: disputes");
  const waiting = await run("disputes", []);
  expect(waiting.out).toContain(task_id);
  expect(waiting.out).toContain("Rows 7 to 9 are missing.");
  expect(await run("disputes", ["decide", task_id, "75"])).toMatchObject({ code: 2 });
  const ambiguous = await run("disputes", ["decide", task_id, "0.75"], {
    reason: "Most is there.",
  });
  expect(ambiguous).toMatchObject({ code: 2 });
  const decided = await run("disputes", ["decide", task_id, "75"], { reason: "Most is there." });
  expect(decided.out).toContain("decided: 75 % of");
  expect((await run("disputes", [])).out).toContain("no dispute waits for you");
  const closed = await run("disputes", [], { all: true, state: "closed" });
  expect(closed.out).toContain("decided, 75 % paid");
  expect(await run("disputes", [], { state: "closed" })).toMatchObject({ code: 2 });
});

test("the command line lists the processes of the relay", async () => {
  const { out } = await run("processes", []);
  expect(out).toContain("leads");
});

test("the command line lists the trust that an agent receives", async () => {
  const { out } = await run("trust", [given.worker.agentId]);
  expect(out).toContain(given.boss.agentId);
  expect(await run("trust", [])).toMatchObject({ code: 2 });
});
