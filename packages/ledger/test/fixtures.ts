import { bytesToHex, generateKeyPair } from "@agent/crypto";
import fc from "fast-check";
import {
  hashArgs,
  type LedgerBody,
  type LedgerEvent,
  type LedgerStep,
  type SignedLedger,
  signLedger,
} from "../src/index.ts";

/** A signer whose keys are derived from a number, so that every run signs alike. */
export function createSigner(seed: number) {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  return { publicKey: bytesToHex(publicKey), secretKey };
}

export const alice = createSigner(1);
export const bob = createSigner(2);
export const agentId = "019b7d21-53eb-7ccd-926c-3badff397897";
export const goalId = "019b7d21-53eb-7c81-b2f1-75174603c805";
export const taskId = "019b7d21-53eb-70cb-95bc-a8151a7b5a43";
export const hash = hashArgs({ path: "README.md" });

const begin = 1_767_330_894_000;

/** Builds events one second apart. */
export function spaceBySecond(
  ...events: readonly Pick<LedgerEvent, "type" | "payload">[]
): LedgerEvent[] {
  return events.map(
    (event, index) => ({ timestamp: begin + index * 1000, ...event }) as LedgerEvent,
  );
}

const start = (step_id: string, ordinal: number) =>
  ({ type: "step_started", payload: { step_id, ordinal, description: `do ${step_id}` } }) as const;

/** A goal of three steps: one completed with a tool, one delegated, one failed. */
export function buildTimeline(): LedgerEvent[] {
  return spaceBySecond(
    { type: "goal_started", payload: { goal_id: goalId } },
    { type: "plan_created", payload: { plan_id: "plan", title: "Count", total_steps: 3 } },
    start("read", 0),
    { type: "tool_invoked", payload: { tool: "read_file", args_hash: hash, call_id: "c" } },
    {
      type: "tool_result",
      payload: { tool: "read_file", ok: true, duration_ms: 1.5, call_id: "c" },
    },
    { type: "step_completed", payload: { tool_calls_made: 1 } },
    start("count", 1),
    { type: "step_delegated", payload: { task_id: taskId } },
    start("write", 2),
    { type: "step_failed", payload: { error: "disk full" } },
    { type: "plan_failed", payload: { reason: "a step failed" } },
    { type: "goal_completed", payload: { status: "failed" } },
  );
}

export function buildStep(
  step_id: string,
  ordinal: number,
  changes: Partial<LedgerStep>,
): LedgerStep {
  return {
    step_id,
    ordinal,
    description: `do ${step_id}`,
    status: "pending",
    tools_used: [],
    tool_calls: 0,
    started_at: null,
    completed_at: null,
    ...changes,
  };
}

export function buildSteps(): LedgerStep[] {
  return [
    buildStep("read", 0, { status: "completed", tools_used: ["read_file"], tool_calls: 1 }),
    buildStep("count", 1, { status: "delegated", delegation: { receipt_hash: hash } }),
    buildStep("write", 2, { status: "failed" }),
  ];
}

/** The members of a receipt that a ledger reads, and a result that it must not contain. */
export const receipt = {
  task_id: taskId,
  agent_id: "019b7d21-53eb-7178-a34c-b60f32898977",
  device_id: "device",
  status: "completed",
  tools_used: ["search"],
  result: "Forty-two.",
  signature: "IWMiGta5gSiusivb-and-so-on",
};

export function buildBody(changes: Partial<LedgerBody> = {}): LedgerBody {
  return {
    agent_id: agentId,
    goal_id: goalId,
    plan_id: "plan",
    started_at: begin,
    completed_at: begin + 11_000,
    status: "failed",
    timeline: buildTimeline(),
    steps: buildSteps(),
    delegation_receipts: [
      {
        task_id: taskId,
        agent_id: "019b7d21-53eb-7178-a34c-b60f32898977",
        device_id: "device",
        status: "completed",
        tools_used: [],
        signature_prefix: "IWMiGta5gSiusivb",
      },
    ],
    ...changes,
  };
}

/** Builds a ledger of alice, with changes made before she signed. */
export function buildSignedLedger(changes: Partial<LedgerBody> = {}): SignedLedger {
  return signLedger(buildBody(changes), alice.secretKey);
}

const text = fc.string({ unit: "grapheme", minLength: 1 });
const stepId = fc.constantFrom("a", "b", "c");
const ofStep = fc.option(stepId, { nil: undefined });

const payloads: { [Type in LedgerEvent["type"]]: fc.Arbitrary<LedgerEvent<Type>["payload"]> } = {
  goal_started: fc.constant({ goal_id: goalId }),
  plan_created: fc.record({ plan_id: text, title: text, total_steps: fc.nat(3) }),
  step_started: fc.record({ step_id: stepId, ordinal: fc.nat(9), description: text }),
  tool_invoked: fc.record({
    tool: text,
    args_hash: fc.constant(hash),
    call_id: text,
    step_id: ofStep,
  }),
  tool_result: fc.record({
    tool: text,
    ok: fc.boolean(),
    duration_ms: fc.double({ min: 0, max: 1e9, noNaN: true }),
    call_id: text,
    step_id: ofStep,
  }),
  step_completed: fc.record({ tool_calls_made: fc.nat(9), step_id: ofStep }),
  step_failed: fc.record({ error: text, step_id: ofStep }),
  step_delegated: fc.record({ task_id: text, step_id: ofStep }),
  plan_completed: fc.constant({}),
  plan_failed: fc.record({ reason: text }),
  goal_completed: fc.record({ status: fc.constantFrom("completed", "failed") }),
};

const event = fc.oneof(
  ...Object.entries(payloads).map(([type, payload]) =>
    fc
      .record({ timestamp: fc.nat(20), payload: payload as fc.Arbitrary<object> })
      .map((members) => ({ type, ...members }) as LedgerEvent),
  ),
);

/** Any timeline in order, even one whose events make no sense together. */
export const timelineArbitrary = fc
  .array(event, { maxLength: 12 })
  .map((events) => events.toSorted((left, right) => left.timestamp - right.timestamp));
