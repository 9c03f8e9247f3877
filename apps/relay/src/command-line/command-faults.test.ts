import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { runCommand } from "../../test/processes/operator-command.ts";
import type { OperatorOptions } from "./operator-command.ts";

let t: ServedRelay;
beforeAll(async () => {
  t = await serveTestRelay();
});
afterAll(() => t.close());

const run = (args: readonly string[], options?: OperatorOptions) =>
  runCommand({ url: t.baseUrl, now: t.clock.now }, args, options);

test.each<[args: string[], options: OperatorOptions, message: string]>([
  [["task"], {}, "ID is missing"],
  [["online"], {}, "ID is missing"],
  [["trust"], {}, "ID is missing"],
  [["statement"], {}, "ID is missing"],
  [["sessions", "end"], {}, "ID is missing"],
  [["sessions", "stop"], {}, 'sessions is followed by end or nothing, not by "stop"'],
  [["disputes"], { state: "closed" }, "disputes takes no --state, but disputes --all does"],
  [["disputes", "decide", "t"], {}, "PERCENT and --reason are missing"],
  [["disputes", "decide", "t", "150"], { reason: "r" }, "PERCENT 150 must be from 0 to 100"],
  [["withdrawals", "fail", "w"], {}, "--reason is missing"],
  [
    ["withdrawals", "pay", "w"],
    {},
    'withdrawals is followed by complete, fail or nothing, not by "pay"',
  ],
  [["peers", "add"], {}, "URL is missing"],
  [["peers", "credit", "r"], {}, "AMOUNT is missing"],
  [["peers", "credit", "r", "1e3"], {}, "AMOUNT 1e3 must be USD"],
  [["peers", "pay", "r", "5"], {}, "--reference is missing"],
  [["task", " "], {}, "ID is missing"],
  [
    ["withdrawals"],
    { "payout-reference": "x" },
    "withdrawals takes no --payout-reference, but withdrawals complete does",
  ],
  [
    ["withdrawals", "complete", "w"],
    { "payout-reference": "x", reason: "r" },
    "withdrawals complete takes no --reason, but withdrawals fail does",
  ],
  [["events"], { follow: true, limit: "5" }, "events --follow takes no --limit, but events does"],
  [["peers"], { reference: "r" }, "peers takes no --reference, but peers pay does"],
  [
    ["peers", "pay", "r", "5"],
    { reference: "b" },
    "either --sent or --received is required, not both",
  ],
  [["peers", "clear-defaults", "r"], {}, "--reason is missing"],
  [["outbox", "retry"], {}, "ID is missing"],
  [["outbox", "give-up", "s"], {}, "--reason is missing"],
  [["deposit", "a", "99999999999"], { reference: "r" }, "from 0 to 1000000000"],
])("the fault of %j with %j names what is missing or wrong", async (args, options, message) => {
  const { code, errors } = await run(args, options);
  expect({ code, first: errors.split("\n")[0] }).toEqual({
    code: 2,
    first: expect.stringContaining(message) as string,
  });
});

test.each<[args: string[], options: OperatorOptions, message: string]>([
  [["approvals"], { state: "open" }, "--state must be one of 'pending', 'approved', "],
  [["withdrawals"], { state: "open" }, "--state must be one of 'pending', 'completed', "],
  [["tasks"], { limit: "0" }, "--limit must be a whole number from 1 to 200"],
  [["deposit", "no-agent", "5"], { reference: "r" }, "ID must be a UUID"],
  [["peers", "add", "there"], {}, "URL must be an http or https URL"],
])("a refusal of %j by the relay names what was typed", async (args, options, message) => {
  const { code, errors } = await run(args, options);
  expect(code).toBe(1);
  expect(errors).toContain(`agent-relay: ${message}`);
});

test.each([
  ["statement", {}],
  ["statement", { csv: true }],
  ["statement", { from: "2h" }],
  ["trust", {}],
  ["online", {}],
] as const)(
  "the fault of %s with %j names the id if no agent and no account has it",
  async (name, options) => {
    const unknown = t.createUnknownAgent().agentId;
    const { code, errors, out } = await run([name, unknown], options);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(errors).toContain(`no agent has the id ${unknown}`);
  },
);

test("the statement and the trust of a known agent, or of a mere account, may be empty without a fault", async () => {
  const { agentId } = await t.createAgent();
  expect(await run(["statement", agentId])).toMatchObject({ code: 0 });
  expect(await run(["trust", agentId])).toMatchObject({ code: 0 });
  const later = t.createUnknownAgent().agentId;
  await run(["deposit", later, "5"], { reference: "r" });
  const past = { to: "2026-01-01T00:00:00Z" };
  expect(await run(["statement", later], past)).toMatchObject({ code: 0 });
});

test("the heading of a series names only the time for which the relay keeps figures, and fits a terminal", async () => {
  const { out } = await run(["series", "completed"], { from: "30d" });
  expect(out).toContain("the last 2 d");
  expect(out.split("\n")[1]?.length).toBeLessThan(100);
  expect((await run(["series", "completed"])).out).toContain("the last 1 h");
});

test("a second freeze keeps the first reason, and the command says so", async () => {
  expect((await run(["freeze", "first"])).out).not.toContain("already");
  const { out } = await run(["freeze", "second"]);
  expect(out).toContain("first\nit was frozen already, and that reason stays\n");
  await run(["unfreeze"]);
});
