import { expect, test } from "vitest";
import { countNeeds, listNeeds } from "./list-needs.ts";

const calm = {
  withdrawals_pending: 0,
  approvals_pending: 0,
  disputes_pending: 0,
  outbox_failed: 0,
  jobs: [{ job: "tick", ok: true, age_ms: 0, failures: 0 }],
  books: { at: 1, consistent: true },
  freeze: { frozen: false, reason: null, since: null, by: null, restored: false },
  database: { bytes: 1, in_memory: false, last_backup_at: null },
  peers: { active: 2 },
};

test("the list of needs is empty while all is well", () => {
  expect(listNeeds(calm)).toEqual([]);
});

test.each([
  [{ withdrawals_pending: 1 }, "1 withdrawal waiting", "#/money/withdrawals", "money"],
  [{ withdrawals_pending: 2 }, "2 withdrawals waiting", "#/money/withdrawals", "money"],
  [{ outbox_failed: 1 }, "1 settlement failed", "#/federation", "federation"],
  [{ approvals_pending: 3 }, "3 approvals waiting for votes", "#/approvals", "approvals"],
  [{ disputes_pending: 1 }, "1 dispute to decide", "#/disputes", "disputes"],
  [{ books: { at: 1, consistent: false } }, "the books do not balance", "#/money/books", "money"],
  [
    { database: { ...calm.database, write_fault: "the database could not write: disk is full" } },
    "the database could not write: disk is full",
    "#/audit",
    "audit",
  ],
  [{ peers: { suspended: 1 } }, "1 peer suspended", "#/federation", "federation"],
  [
    { freeze: { frozen: true, reason: "x", since: 1, by: null, restored: false } },
    "the relay is frozen",
    "#/freeze",
    "freeze",
  ],
])("the list of needs has %j with a link to its page", (change, text, href, page) => {
  const overview = { ...calm, ...change };
  expect(listNeeds(overview)).toMatchObject([{ text, href }]);
  expect(countNeeds(overview, page)).toBe(Number.parseInt(text) || 1);
  expect(countNeeds(overview, "tasks")).toBe(0);
});

test("a late job is a fault that names its job", () => {
  const jobs = [...calm.jobs, { job: "purge", ok: false, age_ms: 1, failures: 2 }];
  expect(listNeeds({ ...calm, jobs })).toEqual([
    { text: "late: job purge", href: "#/audit", page: "audit", count: 1, isBad: true },
  ]);
});

test("faults are listed before matters that wait for the operator", () => {
  const needs = listNeeds({
    ...calm,
    freeze: { ...calm.freeze, frozen: true },
    books: { at: 1, consistent: false },
    outbox_failed: 1,
    disputes_pending: 1,
    withdrawals_pending: 1,
    peers: { suspended: 1 },
    approvals_pending: 1,
  });
  expect(needs.map(({ isBad }) => isBad)).toEqual([true, true, true, false, false, false, false]);
});
