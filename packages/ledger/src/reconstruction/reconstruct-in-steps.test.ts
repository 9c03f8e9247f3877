import { expect, test } from "vitest";
import { buildTimeline } from "../../test/fixtures.ts";
import { emptyRecords, plan, task } from "../../test/goal-records.ts";
import { reconstructLedger, reconstructLedgerInSteps } from "../index.ts";

test("H32: a ledger of many events is parsed and hashed in steps, each of a few hundred events", () => {
  let read = 0;
  const [, , , called] = buildTimeline();
  const events = Array.from({ length: 3_000 }, (_, index) => ({
    type: called!.type,
    payload: called!.payload,
    get timestamp() {
      read += 1;
      return index;
    },
  }));
  const steps = reconstructLedgerInSteps({ ...emptyRecords, events });
  const parsed: number[] = [];
  let before = 0;
  for (const _ of steps) {
    parsed.push(read - before);
    before = read;
  }
  const readsPerEvent = read / events.length;
  expect(Math.max(...parsed) / readsPerEvent).toBeLessThanOrEqual(300);
  // As many steps hash them.
  expect(parsed.length).toBeGreaterThanOrEqual(20);
});

test("a ledger that is reconstructed in steps is the same as one without a pause", () => {
  const records = { ...emptyRecords, plans: [plan], tasks: [task], events: buildTimeline() };
  const steps = reconstructLedgerInSteps(records);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  expect(step.value).toEqual(reconstructLedger(records));
});
