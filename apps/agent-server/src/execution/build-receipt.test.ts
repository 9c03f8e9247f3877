import { sha256Hex } from "@agent/crypto";
import { verifyReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import { expect, test } from "vitest";
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

test("a receipt above the size of a request becomes that of a failed task without nested ones", () => {
  const nested = [buildReceipt(task, end, signer)];
  const result = "x".repeat(limits.requestBytes);
  const outcome = { status: "completed", result } as const;
  const receipt = buildReceipt(task, { ...end, outcome, nested }, signer);
  expect(receipt).toMatchObject({ status: "failed", tools_used: ["shout"] });
  expect(receipt).not.toHaveProperty("delegation_receipts");
  expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
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
