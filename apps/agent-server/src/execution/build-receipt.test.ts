import { canonicalize, sha256Hex } from "@agent/crypto";
import { signReceipt, verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { buildReceipt, type StartedTask, type TaskEnd } from "./build-receipt.ts";

const identity = createTestIdentity();
const signer = { identity, deviceId: "device" };
const at = Date.now();
const task = {
  taskId: "t",
  prompt: "p",
  requiredCapabilities: [],
  submittedAt: at - 2_000,
  startedAt: at - 1_000,
};
const end: TaskEnd = {
  outcome: { status: "completed", result: "done" },
  toolsUsed: ["shout"],
  nested: [],
  completedAt: at,
};

test("a receipt states prompt and result, and its signature verifies", () => {
  const receipt = buildReceipt(task, end, signer);
  expect(receipt).toMatchObject({
    task_id: "t",
    device_id: "device",
    submitted_at: at - 2_000,
    completed_at: at,
    status: "completed",
    result: "done",
    tools_used: ["shout"],
    prompt_hash: sha256Hex("p"),
  });
  expect(receipt).not.toHaveProperty("delegation_receipts");
  expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
});

test("a receipt that exceeds the size of a request becomes that of a failed task, and still nests the others", () => {
  const nested = [buildReceipt(task, end, signer)];
  const result = "x".repeat(limits.requestBytes);
  const outcome = { status: "completed", result } as const;
  const receipt = buildReceipt(task, { ...end, outcome, nested }, signer);
  expect(receipt).toMatchObject({
    status: "failed",
    tools_used: ["shout"],
    delegation_receipts: nested,
  });
  expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
});

describe("E10: the receipts of subcontractors", () => {
  const subcontractor = createTestIdentity();
  const signNested = (extra: object): ExecutionReceipt => {
    const {
      suite: _suite,
      signature: _signature,
      ...body
    } = buildReceipt(task, end, {
      identity: subcontractor,
      deviceId: "device",
    });
    return signReceipt({ ...body, ...extra }, subcontractor.secretKey);
  };
  const honest = signNested({});
  const buildWith = (...nested: ExecutionReceipt[]) =>
    buildReceipt(task, { ...end, nested }, signer);
  const isValid = (receipt: ExecutionReceipt) => verifyReceipt(JSON.stringify(receipt)).valid;
  const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)]);
  const objects = (count: number) => Array.from({ length: count }, () => ({}));

  test.each<[string, object]>([
    ["that nests 256 others", { delegation_receipts: objects(256) }],
    ["that is 63 levels deep", { extra: deep(62) }],
    ["that leaves no level for what holds the own one", { extra: deep(58) }],
    ["that is as large as a request may be", { extra: "x".repeat(limits.requestBytes - 900) }],
  ])("E10: a receipt %s is left out, and the work is still paid", (_, extra) => {
    const poison = signNested(extra);
    expect(isValid(poison)).toBe(true);
    const receipt = buildWith(poison, honest);
    expect(receipt).toMatchObject({ status: "completed", delegation_receipts: [honest] });
    expect(isValid(receipt)).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(receipt))).toBeLessThanOrEqual(limits.requestBytes);
  });

  test("E10: a deep receipt is nested if four levels remain for the receipts around the agent's own", () => {
    const receipt = buildWith(signNested({ extra: deep(57) }));
    expect(receipt.delegation_receipts).toHaveLength(1);
    expect(() => canonicalize([[[[receipt]]]])).not.toThrow();
    expect(() => canonicalize([[[[[receipt]]]]])).toThrow("nested deeper");
  });

  test("E10: of receipts that fit alone but not together, those with fewer nested receipts are kept", () => {
    const wide = signNested({ delegation_receipts: objects(200) });
    const wider = signNested({ delegation_receipts: objects(220) });
    const receipt = buildWith(wider, wide, honest);
    expect(receipt.delegation_receipts).toEqual([wide, honest]);
    expect(isValid(receipt)).toBe(true);
  });

  test("E10: receipts of subcontractors are nested up to the last byte of a request", () => {
    const room = limits.requestBytes - Buffer.byteLength(JSON.stringify(buildWith(honest, honest)));
    const length = (extra: number) => signNested({ extra: "x".repeat(extra) });
    const fitting = room - ',"extra":""'.length;
    expect(buildWith(honest, length(fitting)).delegation_receipts).toHaveLength(2);
    expect(buildWith(honest, length(fitting + 1)).delegation_receipts).toEqual([honest]);
  });
});

test("the receipt of a task that waited too long states when the work began", () => {
  const waited = { ...task, submittedAt: 1 };
  expect(buildReceipt(waited, end, signer).submitted_at).toBe(at - 1_000);
});

test.each<[string, Partial<StartedTask>, number]>([
  ["within the limits", {}, at - 2_000],
  ["that began too long ago", { submittedAt: 1 }, at - 1_000],
  ["whose work took more than an hour", { submittedAt: 1, startedAt: at - 3_600_001 }, at],
  ["during which the clock went an hour ahead", { startedAt: at - 3_601_000, submittedAt: 2 }, at],
  [
    "during which the clock went a minute back",
    { submittedAt: at + 61_000, startedAt: at + 60_500 },
    at,
  ],
  ["whose submitter's clock is a minute ahead", { submittedAt: at + 60_000 }, at + 60_000],
])("the receipt of a task %s is one that a relay accepts", (_, times, submittedAt) => {
  const receipt = buildReceipt({ ...task, ...times }, end, signer);
  expect(receipt.submitted_at).toBe(submittedAt);
  expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
});
