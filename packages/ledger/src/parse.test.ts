import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { agentId, hash, buildSignedLedger, buildStep, buildTimeline } from "../test/fixtures.ts";
import {
  LEDGER_EVENT_TYPES,
  type LedgerEventType,
  LedgerSchema,
  LEDGER_STATUSES,
  parseLedger,
  STEP_STATUSES,
} from "./index.ts";

type Rules = [member: string, right: unknown[], wrong: unknown[]][];

const good = buildSignedLedger();
const times = { right: [0, -1, 2 ** 53 - 1], wrong: [null, "1", 1.5, NaN, Infinity, 2 ** 53] };
const counts = { right: [0, 3], wrong: [undefined, null, -1, 0.5, "0", Infinity] };
const texts = { right: ["x", "ä😀"], wrong: [undefined, null, "", 1, ["x"], {}] };
const strings = { right: ["", "x"], wrong: [undefined, null, 1, {}] };

const casesOf = (rules: Rules) =>
  rules.flatMap(([member, right, wrong]) => [
    ...right.map((value) => ({ member, value, ok: true })),
    ...wrong.map((value) => ({ member, value, ok: false })),
  ]);

const expectFault = (value: unknown, path: string | null) => {
  const answer = path === null ? { ok: true } : { ok: false, code: "ledger.malformed", path };
  expect(parseLedger(value)).toMatchObject(answer);
};

describe("the members of a ledger", () => {
  const rules: Rules = [
    ["agent_id", [agentId], [...texts.wrong, "agent", agentId.toUpperCase()]],
    ["goal_id", texts.right, texts.wrong],
    ["plan_id", strings.right, strings.wrong],
    ["started_at", times.right, [undefined, ...times.wrong]],
    ["completed_at", [undefined, null, ...times.right], times.wrong.slice(1)],
    ["status", [...LEDGER_STATUSES], [undefined, null, "", "done", "Completed", 1]],
    ["timeline", [[]], [undefined, null, {}, "[]", { length: 0 }]],
    ["steps", [[]], [undefined, null, {}, "[]"]],
    ["delegation_receipts", [undefined, []], [null, {}, "[]"]],
    ["content_hash", [hash], [undefined, null, "", hash.toUpperCase(), hash.slice(1), `${hash}0`]],
    ["signature", [undefined, "x"], [null, "", 1, ["x"]]],
  ];

  test.each(casesOf(rules))(
    "a ledger may have the $member $value: $ok",
    ({ member, value, ok }) => {
      expectFault({ ...good, [member]: value }, ok ? null : member);
    },
  );
});

describe("the members of a step", () => {
  const rules: Rules = [
    ["step_id", texts.right, texts.wrong],
    ["ordinal", counts.right, counts.wrong],
    ["description", strings.right, strings.wrong],
    ["status", [...STEP_STATUSES], [undefined, null, "", "done", "active"]],
    ["tools_used", [[], ["a", "a"]], [undefined, null, "a", {}]],
    ["tool_calls", counts.right, [...counts.wrong, []]],
    ["started_at", [undefined, null, ...times.right], times.wrong.slice(1)],
    ["completed_at", [undefined, null, ...times.right], times.wrong.slice(1)],
    ["delegation", [undefined, { receipt_hash: hash }], [null, 1, "x"]],
  ];

  test.each(casesOf(rules))("a step may have the $member $value: $ok", ({ member, value, ok }) => {
    const changed = { ...buildStep("x", 0, {}), [member]: value };
    expectFault({ ...good, steps: [changed] }, ok ? null : `steps.0.${member}`);
  });

  test("the receipts to which a step and its ledger refer are checked", () => {
    const delegation = { receipt_hash: hash.toUpperCase() };
    const steps = [{ ...buildStep("x", 0, {}), delegation }];
    expectFault({ ...good, steps }, "steps.0.delegation.receipt_hash");
    for (const signature_prefix of ["a".repeat(15), "a".repeat(17), "+".repeat(16), undefined]) {
      const summary = { ...good.delegation_receipts?.[0], signature_prefix };
      const path = "delegation_receipts.0.signature_prefix";
      expectFault({ ...good, delegation_receipts: [summary] }, path);
    }
  });
});

describe("the payloads of the eleven event types", () => {
  const step_id: Rules[number] = ["step_id", [undefined, "x"], [null, "", 1]];
  const rules: Record<LedgerEventType, Rules> = {
    goal_started: [["goal_id", texts.right, texts.wrong]],
    plan_created: [
      ["plan_id", texts.right, texts.wrong],
      ["title", strings.right, strings.wrong],
      ["total_steps", counts.right, counts.wrong],
    ],
    step_started: [
      ["step_id", texts.right, texts.wrong],
      ["ordinal", counts.right, counts.wrong],
      ["description", strings.right, strings.wrong],
    ],
    tool_invoked: [
      ["tool", texts.right, texts.wrong],
      ["args_hash", [hash], [undefined, null, "", hash.toUpperCase(), `${hash}0`, { path: "x" }]],
      ["call_id", texts.right, texts.wrong],
      step_id,
    ],
    tool_result: [
      ["tool", texts.right, texts.wrong],
      ["ok", [true, false], [undefined, null, 1, "true"]],
      ["duration_ms", [0, 768.5], [undefined, null, -1, NaN, Infinity, "1"]],
      ["call_id", texts.right, texts.wrong],
      step_id,
    ],
    step_completed: [["tool_calls_made", counts.right, counts.wrong], step_id],
    step_failed: [["error", [undefined, "", "x"], [null, 1, {}]], step_id],
    step_delegated: [["task_id", texts.right, texts.wrong], step_id],
    plan_completed: [["note", [undefined, null, {}], []]],
    plan_failed: [["reason", strings.right, strings.wrong]],
    goal_completed: [["status", [undefined, ...LEDGER_STATUSES], [null, "", "done", 1]]],
  };
  const samples = new Map<string, object>(
    [...buildTimeline(), { type: "plan_completed", payload: {} }].map(({ type, payload }) => [
      type,
      payload,
    ]),
  );

  test("a ledger has eleven event types", () => {
    expect(LEDGER_EVENT_TYPES).toEqual(Object.keys(rules));
    expect(LEDGER_EVENT_TYPES).toHaveLength(11);
  });

  const cases = Object.entries(rules).flatMap(([type, ofType]) =>
    casesOf(ofType).map((each) => ({ type, ...each })),
  );

  test.each(cases)(
    "the payload of the event $type may have the $member $value: $ok",
    ({ type, member, value, ok }) => {
      const payload = { ...samples.get(type), [member]: value };
      const event = { timestamp: 1, type, payload };
      expectFault({ ...good, timeline: [event] }, ok ? null : `timeline.0.payload.${member}`);
    },
  );

  test.each([
    ["a type that is not among them", { timestamp: 1, type: "note", payload: {} }, ".type"],
    ["no type", { timestamp: 1, payload: {} }, ".type"],
    ["a type that every object has", { timestamp: 1, type: "toString", payload: {} }, ".type"],
    ["no timestamp", { type: "plan_completed", payload: {} }, ".timestamp"],
    ["a fraction of a ms", { timestamp: 1.5, type: "plan_completed", payload: {} }, ".timestamp"],
    ["no payload", { timestamp: 1, type: "plan_completed" }, ".payload"],
    ["a list as payload", { timestamp: 1, type: "plan_completed", payload: [] }, ".payload"],
    ["null", null, ""],
    ["a text", "plan_completed", ""],
  ])("an event with %s is refused", (_, event, path) => {
    expectFault({ ...good, timeline: [event] }, `timeline.0${path}`);
  });
});

describe("a fault names the broken rule", () => {
  const { goal_id: _, ...aimless } = good;
  const [event] = buildTimeline();

  test.each([
    [aimless, "is missing"],
    [{ ...good, goal_id: 1 }, "must be a string"],
    [{ ...good, steps: [null] }, "must be a JSON object"],
    [{ ...good, timeline: [1] }, "must be a JSON object"],
    [{ ...good, timeline: [{ ...event, payload: {} }] }, "is missing"],
    [{ ...good, timeline: [{ ...event, payload: 1 }] }, "must be a JSON object"],
    [{ ...good, timeline: [{ type: "x" }] }, `must be one of: ${LEDGER_EVENT_TYPES.join(", ")}`],
  ])("the fault of case %# names the broken rule", (value, message) => {
    expect(parseLedger(value)).toMatchObject({ ok: false, message });
  });
});

test("a refusal of a ledger never repeats the input", () => {
  const secret = "s3cret-s3cret";
  const odd = { [secret]: secret };
  const faults = [
    ...Object.keys(good)
      .filter((member) => member !== "spec")
      .map((member) => parseLedger({ ...good, [member]: odd })),
    parseLedger({ ...good, timeline: [odd] }),
    parseLedger({ ...good, timeline: [{ type: secret }] }),
    parseLedger(`{"${secret}":`),
  ];
  expect(faults.map(({ ok }) => ok)).not.toContain(true);
  expect(JSON.stringify(faults)).not.toContain(secret);
});

describe("a ledger is plain JSON data with a canonical form", () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  const cyclic: Record<string, unknown> = { ...good };
  cyclic["self"] = cyclic;
  const [event] = buildTimeline();

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 1],
    ["a list", [good]],
    ["a list with a ledger's members", Object.assign([], good)],
    ["a list with an event's members", { ...good, timeline: [Object.assign([], event)] }],
    ["a list with a step's members", { ...good, steps: [Object.assign([], good.steps[0])] }],
    ["an instance of a class", Object.assign(new Error("x"), good)],
    ["a lone surrogate in an unsigned member", { ...good, note: "\ud800" }],
    ["a lone surrogate in an event", { ...good, timeline: [{ ...event, note: "\ud800" }] }],
    ["a number that is not finite", { ...good, note: Infinity }],
    ["a function", { ...good, note: () => 1 }],
    ["64 levels under the ledger", { ...good, note: nested(64) }],
    ["64 levels under an event", { ...good, timeline: [{ ...event, note: nested(64) }] }],
    ["a cycle", cyclic],
  ])("a ledger is refused as plain JSON data: %s", (_, value) => {
    expect(parseLedger(value)).toMatchObject({ ok: false, code: "ledger.malformed" });
  });

  test("63 levels below a ledger are accepted", () => {
    expect(parseLedger({ ...good, note: nested(63) }).ok).toBe(true);
  });

  test("the parser returns the given ledger with its unknown members", () => {
    const given: unknown = JSON.parse(
      JSON.stringify({ ...good, note: 1 }).replace("{", '{"__proto__":{"a":1},"toJSON":2,'),
    );
    const parsed = parseLedger(given);
    expect(parsed.ok && parsed.ledger).toBe(given);
  });
});

describe("the JSON text of a ledger", () => {
  const text = JSON.stringify(good);

  test("a ledger's JSON text is parsed like the value, with colons, quotes and backslashes in its strings", () => {
    expect(parseLedger(text)).toEqual(parseLedger(good));
    const odd = { ...good, 'a":\\': ':"\\":{"a":1,"a":2}\\', b: [":", { ":": "\\" }] };
    expect(parseLedger(JSON.stringify(odd, null, 1))).toEqual(parseLedger(odd));
  });

  test.each([
    ["no JSON", "{"],
    ["empty", ""],
    ["a JSON string", JSON.stringify(text)],
    ["a member twice", text.replace("{", '{"status":"failed",')],
    ["a member twice in another spelling", text.replace("{", '{"st\\u0061tus":"failed",')],
    ["a member of an event twice", text.replace('"timestamp"', '"timestamp":0,"timestamp"')],
    ["100,000 levels deep", "[".repeat(100_000) + "]".repeat(100_000)],
  ])("a ledger's JSON text is refused when it is %s", (_, given) => {
    expect(parseLedger(given)).toMatchObject({ ok: false, code: "ledger.malformed", path: "" });
  });
});

describe("the schema of a ledger", () => {
  test("the schema of a ledger accepts a signed ledger with members that it does not name", () => {
    const ledger = { ...good, note: { a: [1] } };
    expect(v.parse(LedgerSchema, ledger)).toEqual(ledger);
  });

  test("the schema of a ledger requires the only version, which the parser leaves to the verifier", () => {
    const other = { ...good, spec: "agent/execution-ledger@2.0" };
    expect(v.is(LedgerSchema, other)).toBe(false);
    expect(parseLedger(other).ok).toBe(true);
  });
});
