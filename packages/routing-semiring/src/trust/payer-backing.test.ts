import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  capLevelByFees,
  computeBacking,
  computeLeftFee,
  computeUsedFees,
  countsForStrangers,
  selectDisplayedLevel,
  sumPayerBacking,
  type PayerRecord,
} from "./payer-backing.ts";
import { applyTaskOutcome, createTrustRecord, type TrustRecord } from "./trust.ts";
import type { TrustLevel } from "./trust-level.ts";

const DEFAULTS = { verified: 50_000, trusted: 500_000 };
const UNPRICED = { verified: 0, trusted: 0 };

const payer = (
  level: TrustLevel,
  feesKept: number,
  more: Partial<PayerRecord> = {},
): PayerRecord => ({ level, feesKept, paidTasks: 1, ...more });

const payers = (count: number, level: TrustLevel, feesKept: number) =>
  Array.from({ length: count }, () => payer(level, feesKept));

describe("selectDisplayedLevel", () => {
  test.each<[string, TrustLevel | null, readonly PayerRecord[], TrustLevel]>([
    [
      "the own one, regardless of payers",
      "first_contact",
      payers(9, "trusted", 1e9),
      "first_contact",
    ],
    ["the own block", "blocked", payers(9, "trusted", 1e9), "blocked"],
    ["unknown without payers", null, [], "unknown"],
    ["unknown when no payer left a fee", null, payers(40, "trusted", 0), "unknown"],
    ["unknown for one payer", null, payers(1, "first_contact", 1), "unknown"],
    [
      "first contact for two that left a micro-unit",
      null,
      payers(2, "trusted", 1),
      "first_contact",
    ],
    ["trusted for two payers with 0.50 each", null, payers(2, "trusted", 500_000), "trusted"],
    ["trusted for fifty payers with 0.02 each", null, payers(50, "trusted", 20_000), "trusted"],
    ["verified for 49 payers with 0.02 each", null, payers(49, "trusted", 20_000), "verified"],
    ["verified for two payers just below 0.50", null, payers(2, "trusted", 499_999), "verified"],
    ["verified for two payers with 0.05 each", null, payers(2, "verified", 50_000), "verified"],
    ["first contact just below 0.05 each", null, payers(2, "verified", 49_999), "first_contact"],
    ["unknown for one payer of any wealth", null, payers(1, "trusted", 1e12), "unknown"],
    [
      "first contact for one wealthy payer and one poor one",
      null,
      [payer("trusted", 1e12), payer("trusted", 1)],
      "first_contact",
    ],
    [
      "that of the payers who hold at least this level",
      null,
      [payer("trusted", 1e6), payer("verified", 1e6), payer("verified", 1e6)],
      "verified",
    ],
    [
      "not lowered by a payer that blocked the agent",
      null,
      [payer("blocked", 1e6), ...payers(2, "trusted", 1e6)],
      "trusted",
    ],
    [
      "unknown for one owner with two payers",
      null,
      [payer("trusted", 1e6, { owner: "a" }), payer("trusted", 1e6, { owner: "a" })],
      "unknown",
    ],
    [
      "trusted for two owners, one of whom has two payers",
      null,
      [
        payer("trusted", 250_000, { owner: "a" }),
        payer("trusted", 250_000, { owner: "a" }),
        payer("trusted", 500_000),
      ],
      "trusted",
    ],
    [
      "trusted for two payers that the asker knows",
      null,
      [payer("trusted", 1, { isKnown: true }), payer("trusted", 1, { isKnown: true })],
      "trusted",
    ],
    [
      "trusted for a known payer and one that left 0.50",
      null,
      [payer("trusted", 1, { isKnown: true }), payer("trusted", 500_000)],
      "trusted",
    ],
    [
      "trusted for an owner with a known payer among its two and one that left 0.50",
      null,
      [
        payer("trusted", 1, { owner: "a", isKnown: true }),
        payer("trusted", 1, { owner: "a" }),
        payer("trusted", 500_000),
      ],
      "trusted",
    ],
    [
      "unknown for known payers that left no fee",
      null,
      [payer("trusted", 0, { isKnown: true }), payer("trusted", 0, { isKnown: true })],
      "unknown",
    ],
  ])("C2, C4: the displayed level is %s", (_, own, held, expected) => {
    expect(selectDisplayedLevel(own, held, DEFAULTS)).toBe(expected);
  });

  test.each<[string, readonly PayerRecord[], TrustLevel]>([
    ["the best of two payers", [...payers(2, "verified", 0), payer("unknown", 0)], "verified"],
    ["the lower of two", [payer("trusted", 0), payer("verified", 0)], "verified"],
    [
      "first contact for two that had one task each",
      payers(2, "first_contact", 0),
      "first_contact",
    ],
    ["never that of one payer", [payer("trusted", 0)], "unknown"],
    [
      "never that of free tasks",
      [payer("trusted", 0, { paidTasks: 0 }), payer("trusted", 0)],
      "unknown",
    ],
  ])("C2: with thresholds of 0 the displayed level is %s", (_, held, expected) => {
    expect(selectDisplayedLevel(null, held, UNPRICED)).toBe(expected);
  });

  test("C2: the fees behind a displayed level are at least twice its threshold", () => {
    const level = fc.constantFrom<TrustLevel>("unknown", "first_contact", "verified", "trusted");
    const held = fc.array(
      fc.record(
        { level, feesKept: fc.nat(700_000), paidTasks: fc.nat(3) },
        { noNullPrototype: true },
      ),
    );
    fc.assert(
      fc.property(held, (records) => {
        const shown = selectDisplayedLevel(null, records, DEFAULTS);
        if (shown !== "verified" && shown !== "trusted") return;
        const fees = records.reduce((sum, { feesKept }) => sum + feesKept, 0);
        expect(fees).toBeGreaterThanOrEqual(2 * DEFAULTS[shown]);
      }),
    );
  });

  test("C3: splitting a payer into several identities never raises the displayed level", () => {
    const places: readonly TrustLevel[] = ["unknown", "first_contact", "verified", "trusted"];
    const split = fc.record({
      others: fc.array(fc.nat(600_000), { maxLength: 4 }),
      parts: fc.array(fc.nat(400_000), { minLength: 1, maxLength: 6 }),
    });
    fc.assert(
      fc.property(split, ({ others, parts }) => {
        const rest = others.map((fees) => payer("trusted", fees));
        const one = payer(
          "trusted",
          parts.reduce((sum, fees) => sum + fees, 0),
        );
        const many = parts.map((fees) => payer("trusted", fees, { owner: "one" }));
        const [whole, divided] = [
          [...rest, one],
          [...rest, ...many],
        ].map((held) => places.indexOf(selectDisplayedLevel(null, held, DEFAULTS)));
        expect(divided).toBe(whole);
      }),
    );
  });
});

test("a payer's weight is its fees, at most the threshold of each level", () => {
  expect(computeBacking([payer("trusted", 200_000)], DEFAULTS)).toEqual({
    first_contact: 1,
    verified: 50_000,
    trusted: 200_000,
  });
  expect(sumPayerBacking(payers(3, "verified", 40_000), DEFAULTS)).toEqual({
    first_contact: 3,
    verified: 120_000,
    trusted: 0,
  });
});

test.each([
  ["trusted", 500_000, "trusted"],
  ["trusted", 499_999, "verified"],
  ["trusted", 49_999, "first_contact"],
  ["verified", 1e9, "verified"],
  ["verified", 0, "first_contact"],
  ["first_contact", 0, "first_contact"],
  ["unknown", 1e9, "unknown"],
  ["blocked", 1e9, "blocked"],
] as const)("C5: a record of level %s with fees of %i states %s", (level, fees, stated) => {
  expect(capLevelByFees(level, fees, DEFAULTS)).toBe(stated);
});

test.each([
  ["of a payer with money", { fee: 10, payerBalance: 100, hasCardMoney: false }, 10],
  ["of a payer with nothing left", { fee: 10, payerBalance: 0, hasCardMoney: false }, 10],
  ["paid with card money", { fee: 10, payerBalance: 100, hasCardMoney: true }, 0],
  ["of a payer that owes a part", { fee: 10, payerBalance: -4, hasCardMoney: false }, 6],
  ["of a payer that owes more", { fee: 10, payerBalance: -11, hasCardMoney: false }, 0],
])("C8: a fee %s leaves what no refund can take back (%o)", (_, paid, left) => {
  expect(computeLeftFee(paid)).toBe(left);
});

const success = { priced: true, hasFailed: false, fee: 1, payerFees: 1e9, usedFees: 0 };
const failure = { ...success, hasFailed: true };

test.each([
  ["a free task", { ...success, priced: false, fee: 0 }, false, false],
  ["a fee that rounded to 0", { ...success, fee: 0 }, false, true],
  ["a payer below the threshold", { ...success, payerFees: 49_999 }, false, true],
  ["a payer at the threshold", { ...success, payerFees: 50_000 }, true, true],
  [
    "a success of a payer with used fees",
    { ...success, payerFees: 50_000, usedFees: 50_000 },
    true,
    true,
  ],
  ["a failure of a payer below the threshold", { ...failure, payerFees: 49_999 }, false, true],
  [
    "a failure within the fees left",
    { ...failure, payerFees: 60_000, usedFees: 59_999 },
    true,
    true,
  ],
  [
    "a failure beyond the fees left",
    { ...failure, payerFees: 60_000, usedFees: 60_000 },
    false,
    true,
  ],
  [
    "a failure of a dear task, which uses no more than the threshold",
    { ...failure, fee: 9e9, payerFees: 50_000 },
    true,
    true,
  ],
  ["a second one", { ...failure, fee: 9e9, payerFees: 99_999, usedFees: 50_000 }, false, true],
] as const)(
  "C3, C7, A30: whether %s counts for strangers depends on %o",
  (_, task, priced, unpriced) => {
    expect(countsForStrangers(task, DEFAULTS)).toBe(priced);
    expect(countsForStrangers(task, UNPRICED)).toBe(unpriced);
  },
);

test.each([
  ["a cheap task", 20, 20],
  ["a task at the threshold", 50_000, 50_000],
  ["a dear task", 50_001, 50_000],
])("A30: the failure of %s uses the fee of a success, at most the threshold", (_, fee, used) => {
  expect(computeUsedFees({ hasFailed: true, fee }, DEFAULTS)).toBe(used);
  expect(computeUsedFees({ hasFailed: true, fee }, UNPRICED)).toBe(0);
  expect(computeUsedFees({ hasFailed: false, fee }, DEFAULTS)).toBe(0);
});

/** A relay's records as far as strangers see them, with tasks whose fee is given. */
function createLedger() {
  const records = new Map<string, { record: TrustRecord; feesKept: number; paidTasks: number }>();
  const feesOf = new Map<string, number>();
  const usedBy = new Map<string, number>();
  const publicTasks = new Map<string, number>();
  return {
    work(by: string, worker: string, status: "completed" | "failed", fee: number, priced: boolean) {
      const key = `${by}>${worker}`;
      const before = records.get(key) ?? {
        record: createTrustRecord(by, worker, 0),
        feesKept: 0,
        paidTasks: 0,
      };
      const kept = status === "completed" ? fee : 0;
      const payerFees = (feesOf.get(by) ?? 0) + kept;
      feesOf.set(by, payerFees);
      records.set(key, {
        record: applyTaskOutcome(before.record, { status, latencyMs: 1, now: 0 }),
        feesKept: before.feesKept + kept,
        paidTasks: before.paidTasks + (priced && status === "completed" ? 1 : 0),
      });
      const hasFailed = status === "failed";
      const usedFees = usedBy.get(by) ?? 0;
      const task = { priced, hasFailed, fee, payerFees, usedFees };
      if (countsForStrangers(task, DEFAULTS)) {
        usedBy.set(by, usedFees + computeUsedFees(task, DEFAULTS));
        publicTasks.set(worker, (publicTasks.get(worker) ?? 0) + 1);
      }
    },
    view(worker: string) {
      const held = [...records.values()].filter(({ record }) => record.remote_agent_id === worker);
      const level = selectDisplayedLevel(
        null,
        held.map(({ record, ...paid }) => ({ level: record.trust_level, ...paid })),
        DEFAULTS,
      );
      return { level, publicTasks: publicTasks.get(worker) ?? 0 };
    },
  };
}

test("C1: no sequence of acts inside a ring that pays no fee changes what a stranger sees", () => {
  const ring = ["r0", "r1", "r2", "r3"];
  const agents = [...ring, "honest"];
  const member = fc.constantFrom(...ring);
  const act = fc.record({
    by: member,
    worker: fc.constantFrom(...agents),
    status: fc.constantFrom("completed" as const, "failed" as const),
    // A price of a micro-unit has a fee that rounds to 0, as a free task has none.
    priced: fc.boolean(),
    times: fc.integer({ min: 1, max: 25 }),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const ledger = createLedger();
      for (const payerId of ["p0", "p1"]) {
        for (let task = 0; task < 20; task += 1) {
          ledger.work(payerId, "honest", "completed", 25_000, true);
        }
      }
      const before = agents.map((id) => ledger.view(id));
      expect(before.at(-1)).toEqual({ level: "trusted", publicTasks: 38 });
      for (const { by, worker, status, priced, times } of acts) {
        if (by === worker) continue;
        for (let task = 0; task < times; task += 1) ledger.work(by, worker, status, 0, priced);
      }
      expect(agents.map((id) => ledger.view(id))).toEqual(before);
    }),
  );
});
