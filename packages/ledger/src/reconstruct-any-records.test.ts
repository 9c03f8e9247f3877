import fc from "fast-check";
import { expect, test } from "vitest";
import { agentId, goalId, hash, receipt, timelineArbitrary } from "../test/fixtures.ts";
import {
  crossCheckGoal,
  crossCheckSteps,
  type GoalRecords,
  LEDGER_STATUSES,
  type LedgerStep,
  reconstructLedger,
  STEP_STATUSES,
  verifyLedger,
} from "./index.ts";

const time = fc.option(fc.nat(20), { nil: null });

const steps: fc.Arbitrary<LedgerStep[]> = fc.uniqueArray(
  fc.record({
    step_id: fc.constantFrom("a", "b", "c"),
    ordinal: fc.nat(3),
    description: fc.string(),
    status: fc.constantFrom(...STEP_STATUSES),
    tools_used: fc.subarray(["search", "read_file"]),
    tool_calls: fc.nat(3),
    started_at: time,
    completed_at: time,
    delegation: fc.constantFrom(undefined, { receipt_hash: hash }),
  }),
  { selector: ({ step_id }) => step_id },
);

const records: fc.Arbitrary<GoalRecords> = fc.record({
  agentId: fc.constant(agentId),
  goalId: fc.constant(goalId),
  goal: fc.record({
    started_at: time,
    completed_at: time,
    status: fc.constantFrom(undefined, ...LEDGER_STATUSES),
  }),
  plans: fc.uniqueArray(
    fc.record({
      plan_id: fc.constantFrom("first", "second"),
      title: fc.string(),
      status: fc.constantFrom(...LEDGER_STATUSES),
      created_at: fc.nat(20),
      steps,
    }),
    { selector: ({ plan_id }) => plan_id },
  ),
  tasks: fc.uniqueArray(
    fc.record({
      task_id: fc.constantFrom("t", "u", "v"),
      step_id: fc.constantFrom("a", "b", "c", "d", null),
      submitted_at: fc.nat(20),
      receipt: fc.constantFrom(receipt, null),
    }),
    { selector: ({ task_id }) => task_id },
  ),
  // The plans are the source of plan events: a log with other ones contradicts them.
  events: timelineArbitrary.map((events) => events.filter(({ type }) => type !== "plan_created")),
});

test("a ledger of any records is valid and does not contradict itself", () => {
  fc.assert(
    fc.property(records, (given) => {
      const ledger = reconstructLedger(given);
      fc.pre(ledger !== null);
      expect(verifyLedger(JSON.stringify(ledger)).valid).toBe(true);
      expect([...crossCheckGoal(ledger), ...crossCheckSteps(ledger)]).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test("reading the timeline of a reconstructed ledger again changes nothing", () => {
  fc.assert(
    fc.property(records, (given) => {
      const ledger = reconstructLedger(given);
      fc.pre(ledger !== null);
      const again = reconstructLedger({ ...given, events: ledger.timeline });
      expect(again?.timeline).toEqual(ledger.timeline);
    }),
    { numRuns: 300 },
  );
});
