import { expect, test } from "vitest";
import { findUsageFault } from "./find-usage-fault.ts";

const MONEY =
  "money [--state S] [--limit N] | money complete ID --payout-reference R | money fail ID --reason R";
const PAY = "pay ID AMOUNT --sent|--received --reference R [--note TEXT]";
const LIST = "list [--limit N] | list --all [--state a|b] [--limit N]";

test.each<[usage: string, args: string[], options: string[], fault: string | undefined]>([
  [MONEY, [], [], undefined],
  [MONEY, [], ["state", "limit"], undefined],
  [MONEY, ["complete", "w"], ["payout-reference"], undefined],
  [MONEY, [], ["payout-reference"], "money takes no --payout-reference, but money complete does"],
  [MONEY, ["fail", "w"], ["reason", "limit"], "money fail takes no --limit, but money does"],
  [MONEY, ["complete"], [], "ID and --payout-reference are missing"],
  [MONEY, ["complete", " "], ["payout-reference"], "ID is missing"],
  [MONEY, ["complete", "w", "x"], ["payout-reference"], '"x" is an argument too many'],
  [MONEY, ["pay", "w"], [], 'money is followed by complete, fail or nothing, not by "pay"'],
  [PAY, ["a", "5"], ["sent", "reference"], undefined],
  [PAY, ["a", "5"], ["received", "reference", "note"], undefined],
  [PAY, ["a"], ["sent"], "AMOUNT and --reference are missing"],
  [PAY, ["a", "5"], ["csv"], "pay takes no --csv"],
  [LIST, [], ["all", "state", "limit"], undefined],
  [LIST, [], ["limit"], undefined],
  [LIST, [], ["state"], "list takes no --state, but list --all does"],
  ["events [--limit N] | events --follow", [], ["follow"], undefined],
  [
    "events [--limit N] | events --follow",
    [],
    ["follow", "limit"],
    "events --follow takes no --limit, but events does",
  ],
  ["log restart", ["restart"], [], undefined],
  ["log restart", [], [], "log is followed by restart"],
  ["log restart", ["stop"], [], 'log is followed by restart, not by "stop"'],
  ["freeze [REASON...]", [], [], undefined],
  ["freeze [REASON...]", ["a", "payment", "looks", "wrong"], [], undefined],
  ["series [METRIC] [--step 5m]", ["tasks"], ["step"], undefined],
  ["series [METRIC] [--step 5m]", ["tasks", "fees"], [], '"fees" is an argument too many'],
])("OP14: `%s` with %j and %j: %s", (usage, args, options, fault) => {
  expect(findUsageFault(usage, { args, options })).toBe(fault);
});

test("OP14: options that all commands share are accepted by every form", () => {
  const given = { args: ["fail", "w"], options: ["json", "reason"] };
  expect(findUsageFault(MONEY, given, ["json"])).toBeUndefined();
  expect(findUsageFault(MONEY, given)).toBe("money fail takes no --json");
});
