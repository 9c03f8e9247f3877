import { describe, expect, test } from "vitest";
import {
  agentId,
  alice,
  bob,
  buildBody,
  spaceBySecond,
  goalId,
  buildSignedLedger,
  buildTimeline,
} from "../../test/fixtures.ts";
import { type Ledger, type LedgerEvent, verifyLedger, type VerifyLedgerOptions } from "../index.ts";

const registered = { publicKey: alice.publicKey, agentId } satisfies VerifyLedgerOptions;

/** The ledger as a relay reconstructs it. */
function unsigned(): Ledger {
  const { signature: _, ...ledger } = buildSignedLedger();
  return ledger;
}

const failing = (ledger: Ledger, options: VerifyLedgerOptions = registered) =>
  verifyLedger(ledger, options)
    .checks.filter(({ ok }) => !ok)
    .map(({ code }) => code);

describe("the checks run in order", () => {
  test("the verdict of a valid ledger lists every check that applies", () => {
    const names = [
      "structure",
      "spec",
      "agent",
      "content_hash",
      "order",
      "signed",
      "key",
      "signature",
      "goal",
      "steps",
      "steps_recorded",
    ];
    const verdict = verifyLedger(buildSignedLedger(), registered);
    expect(verdict.valid).toBe(true);
    expect(verdict.checks).toEqual(names.map((name) => ({ name, ok: true })));
  });

  test("the verdict on a ledger leaves out checks that do not apply", () => {
    const { steps: _, ...rest } = unsigned();
    const names = verifyLedger({ ...rest, steps: [] }).checks.map(({ name }) => name);
    expect(names).toEqual([
      "structure",
      "spec",
      "content_hash",
      "order",
      "signed",
      "goal",
      "steps",
    ]);
  });

  // Each row adds a fault before those of the rows above it, and that fault decides.
  const disordered = [...buildTimeline().slice(1), ...buildTimeline().slice(0, 1)];
  const faults: [name: string, code: string, fault: Partial<Ledger>][] = [
    [
      "signature",
      "ledger.signature_invalid",
      { signature: buildSignedLedger({ timeline: [] }).signature },
    ],
    ["order", "ledger.unordered", buildSignedLedger({ timeline: disordered })],
    ["content_hash", "ledger.content_hash_mismatch", { timeline: buildTimeline() }],
    ["agent", "ledger.wrong_agent", { agent_id: goalId }],
    ["spec", "ledger.spec", { spec: "agent/execution-ledger@2.0" }],
    ["structure", "ledger.malformed", { goal_id: "" }],
  ];

  test.each(faults.map((fault, index) => [...fault, index] as const))(
    "the check %s refuses with %s",
    (name, code, _, index) => {
      const changes = faults.slice(0, index + 1).map(([, , fault]) => fault);
      const ledger = Object.assign({}, buildSignedLedger(), ...changes) as Ledger;
      const verdict = verifyLedger(ledger, registered);
      expect(verdict).toMatchObject({ valid: false, code, covered: [], uncovered: [] });
      expect(verdict.checks.at(-1)).toEqual({ name, ok: false, code });
      expect(verdict.checks.slice(0, -1).every(({ ok }) => ok)).toBe(true);
    },
  );
});

describe("the key of a signed ledger", () => {
  const invalid = "ledger.signature_invalid";

  test.each<[string, VerifyLedgerOptions["publicKey"], string | undefined]>([
    ["the one", alice.publicKey, undefined],
    ["the second of two", [bob.publicKey, alice.publicKey], undefined],
    ["another's", bob.publicKey, invalid],
    ["in capitals", alice.publicKey.toUpperCase(), invalid],
    ["no key at all", "not a key", invalid],
    ["none", [], "ledger.key_missing"],
    ["not given", undefined, "ledger.key_missing"],
  ])("a signed ledger is verified with these keys: %s", (_, publicKey, code) => {
    expect(verifyLedger(buildSignedLedger(), { publicKey }).code).toBe(code);
  });

  test("an unsigned ledger needs no key", () => {
    expect(verifyLedger(unsigned()).valid).toBe(true);
  });

  test.each([
    ["padded", `${buildSignedLedger().signature}==`],
    ["in hex", "ab".repeat(64)],
    ["with a bit that belongs to no byte", buildSignedLedger().signature.replace(/.$/, "B")],
  ])("no key is tried for a signature that is %s", (_, signature) => {
    expect(verifyLedger({ ...buildSignedLedger(), signature }, registered).code).toBe(invalid);
  });
});

test("events are accepted in the order of their times, those of one millisecond in any order", () => {
  const at = (...times: number[]): LedgerEvent[] =>
    times.map((timestamp) => ({ timestamp, type: "plan_completed", payload: {} }));
  const codeOf = (...times: number[]) =>
    verifyLedger(buildSignedLedger({ timeline: at(...times), steps: [] }), registered).code;
  expect(codeOf(1, 1, 2)).toBeUndefined();
  expect(codeOf(1, 3, 2)).toBe("ledger.unordered");
});

describe("a warning leaves the ledger valid", () => {
  test.each<[string, Ledger, string[]]>([
    ["a right ledger", buildSignedLedger(), []],
    ["no signature", unsigned(), ["ledger.unsigned"]],
    [
      "another goal than the timeline's",
      buildSignedLedger({ goal_id: "x" }),
      ["ledger.goal_contradicted"],
    ],
    [
      "other steps than the timeline's",
      buildSignedLedger({ steps: [] }),
      ["ledger.steps_contradicted"],
    ],
    [
      "steps of which the timeline is silent",
      buildSignedLedger({
        timeline: spaceBySecond({ type: "goal_started", payload: { goal_id: goalId } }),
      }),
      ["ledger.steps_unrecorded"],
    ],
    [
      "calls of tools in no step",
      buildSignedLedger({
        timeline: buildTimeline().filter(({ type }) => type.startsWith("tool_")),
      }),
      ["ledger.steps_unrecorded"],
    ],
  ])("a ledger stays valid with its warnings: %s", (_, ledger, warnings) => {
    expect(verifyLedger(ledger, registered).valid).toBe(true);
    expect(failing(ledger)).toEqual(warnings);
  });
});

describe("the coverage in the verdict", () => {
  const others = Object.keys(buildBody()).filter((member) => member !== "timeline");

  test("the coverage lists the timeline alone", () => {
    const { covered, uncovered } = verifyLedger(buildSignedLedger(), registered);
    expect(covered).toEqual(["timeline"]);
    expect(new Set(uncovered)).toEqual(new Set([...others, "spec"]));
  });

  test("members that the specification does not name are not covered", () => {
    const { uncovered } = verifyLedger({ ...buildSignedLedger(), note: 1 }, registered);
    expect(uncovered).toContain("note");
  });

  test("the coverage is empty without a signature", () => {
    const { covered, uncovered } = verifyLedger(unsigned(), registered);
    expect(covered).toEqual([]);
    expect(new Set(uncovered)).toEqual(new Set([...others, "spec", "timeline"]));
  });

  test.each(others)(
    "the coverage leaves out %s, which can be changed under a valid signature",
    (member) => {
      const other: Partial<Ledger> = {
        ...buildSignedLedger({
          agent_id: goalId,
          goal_id: "x",
          plan_id: "x",
          status: "paused",
          steps: [],
        }),
        started_at: 0,
        completed_at: 0,
        delegation_receipts: [],
      };
      const changed = { ...buildSignedLedger(), [member]: other[member as keyof Ledger] };
      expect(verifyLedger(changed, { publicKey: alice.publicKey }).valid).toBe(true);
    },
  );
});

describe("the verifier does not throw", () => {
  test.each([undefined, null, 1, "", "null", [], {}, () => 1, Symbol("x"), new Map()])(
    "the verifier does not throw for %o",
    (value) => {
      expect(verifyLedger(value as object)).toEqual({
        valid: false,
        code: "ledger.malformed",
        checks: [{ name: "structure", ok: false, code: "ledger.malformed" }],
        nested: [],
        covered: [],
        uncovered: [],
      });
    },
  );

  test("a ledger's text is verified like its value", () => {
    expect(verifyLedger(JSON.stringify(buildSignedLedger()), registered)).toEqual(
      verifyLedger(buildSignedLedger(), registered),
    );
  });

  test("members called __proto__ and toJSON are covered as data", () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"toJSON":1}') as object;
    const events = buildTimeline().map((event) => ({
      ...event,
      payload: { ...event.payload, ...odd },
    }));
    const text = JSON.stringify(buildSignedLedger({ timeline: events as LedgerEvent[] }));
    expect(text).toContain('"__proto__":{"a":1}');
    expect(verifyLedger(text, registered).valid).toBe(true);
    expect(verifyLedger(text.replace('{"a":1}', '{"a":2}'), registered).code).toBe(
      "ledger.content_hash_mismatch",
    );
  });
});
