import { toMicro } from "@agent/budget";
import { expect, test } from "vitest";
import { computeCountChanges, type CountedParts } from "./count-changes.ts";

const begun: CountedParts = {
  submitter_id: "s",
  executor_id: "e",
  arbiter_id: "a",
  counted: 1,
  terms: JSON.stringify({ platform_fee_rate: 0.05 }),
  due: toMicro(2),
  fee: toMicro(0.1),
  offer: null,
  lost_by: null,
  decision: null,
  contested_at: null,
  passed_by: null,
  closed_at: null,
};
const rejected: CountedParts = { ...begun, offer: 0 as NonNullable<CountedParts["offer"]> };
const disputed: CountedParts = { ...rejected, contested_at: 1 };
const passed: CountedParts = { ...disputed, arbiter_id: "r", passed_by: "a" };
const closed = { closed_at: 2 };

test.each<[string, CountedParts, CountedParts, object[]]>([
  ["rejected", begun, rejected, []],
  [
    "accepted at once",
    begun,
    { ...begun, ...closed },
    [
      { agent_id: "e", executor_closed: 1 },
      { agent_id: "s", submitter_closed: 1 },
    ],
  ],
  [
    "conceded after a rejection",
    rejected,
    { ...rejected, ...closed },
    [
      { agent_id: "e", executor_closed: 1, executor_rejected: 1 },
      { agent_id: "s", submitter_closed: 1, submitter_rejected: 1 },
    ],
  ],
  ["contested", rejected, disputed, [{ agent_id: "a", arbiter_opened: 1 }]],
  [
    "passed to the operator",
    disputed,
    passed,
    [
      { agent_id: "a", arbiter_opened: -1, arbiter_passed: 1 },
      { agent_id: "r", arbiter_opened: 1 },
    ],
  ],
  [
    "decided against the executor",
    disputed,
    { ...disputed, ...closed, decision: "{}", lost_by: "executor" },
    [
      { agent_id: "a", arbiter_decided: 1 },
      { agent_id: "e", executor_closed: 1, executor_rejected: 1, executor_lost: 1 },
      { agent_id: "s", submitter_closed: 1, submitter_rejected: 1 },
    ],
  ],
  [
    "given up by the submitter",
    disputed,
    { ...disputed, ...closed, lost_by: "submitter" },
    [
      { agent_id: "e", executor_closed: 1, executor_rejected: 1 },
      { agent_id: "s", submitter_closed: 1, submitter_rejected: 1, submitter_lost: 1 },
    ],
  ],
  [
    "undecided by the operator",
    passed,
    { ...passed, ...closed },
    [
      { agent_id: "e", executor_closed: 1, executor_rejected: 1 },
      { agent_id: "r", arbiter_undecided: 1 },
      { agent_id: "s", submitter_closed: 1, submitter_rejected: 1 },
    ],
  ],
  [
    "closed, and so cheap that only the operator's own figures show it",
    { ...passed, due: toMicro(0.000001), fee: toMicro(0.01) },
    { ...passed, due: toMicro(0.000001), fee: toMicro(0.01), ...closed },
    [{ agent_id: "r", arbiter_undecided: 1 }],
  ],
  [
    "decided against the executor and too cheap to count for the parties",
    { ...disputed, due: toMicro(0.000001) },
    { ...disputed, due: toMicro(0.000001), ...closed, decision: "{}", lost_by: "executor" },
    [{ agent_id: "a", arbiter_decided: 1 }],
  ],
  [
    "given up by the submitter and too cheap to count for the parties",
    { ...disputed, due: toMicro(0.000001) },
    { ...disputed, due: toMicro(0.000001), ...closed, lost_by: "submitter" },
    [],
  ],
  [
    "closed between agents that count as one",
    { ...disputed, counted: 0 },
    { ...disputed, ...closed, counted: 0 },
    [],
  ],
])("an inspection that is %s changes the figures of its agents", (_, before, after, changes) => {
  const changed = computeCountChanges(before, after).map((change) =>
    Object.fromEntries(Object.entries(change).filter(([, by]) => by !== 0)),
  );
  expect(changed).toEqual(changes);
});
