import { hashArgs, verifyLedger } from "@agent/ledger";
import { describe, expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { buildReceipt } from "../build-receipt.ts";
import { signWork } from "../sign-work.ts";
import { buildLedger } from "./build-ledger.ts";
import { createTimeline } from "./timeline.ts";

const identity = createTestIdentity();
const task = {
  taskId: "t",
  relayTaskId: "t",
  prompt: "a secret prompt",
  requiredCapabilities: [],
  submittedAt: 1_000,
  startedAt: 1_000,
};

function receiptWith(
  status: "completed" | "failed",
  nested: Parameters<typeof buildReceipt>[1]["nested"] = [],
) {
  const outcome = { status, result: "a secret result" };
  const end = { outcome, toolsUsed: ["fetch"], nested, completedAt: 2_000 };
  return buildReceipt(task, end, { identity, deviceId: "device" });
}

/** Builds the ledger of a task with this number of tool calls. */
function ledgerOf(receipt: ReturnType<typeof receiptWith>, calls = 1) {
  const nested = receipt.delegation_receipts ?? [];
  return buildLedger(timelineOf(calls), { receipt, nested }, identity.secretKey);
}

function timelineOf(calls: number) {
  const timeline = createTimeline("t", () => 1_500);
  for (let i = 0; i < calls; i++)
    timeline.beginCall("fetch", hashArgs({ of: "a secret argument" }))(true);
  return timeline;
}

const signer = { identity, deviceId: "device", runtime: createSystemRuntime(silentLog) };

describe("the ledger of a task", () => {
  test.each(["completed", "failed"] as const)("the ledger of a %s task verifies", (status) => {
    const ledger = ledgerOf(receiptWith(status));
    const verdict = verifyLedger(ledger ?? {}, {
      publicKey: identity.publicKey,
      agentId: identity.agentId,
    });
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks.flatMap(({ code }) => code ?? [])).toEqual([]);
    expect(ledger).toMatchObject({
      goal_id: "t",
      status,
      started_at: 1_500,
      completed_at: 1_500,
      steps: [],
    });
  });

  test("a ledger contains neither prompt nor arguments nor result", () => {
    expect(JSON.stringify(ledgerOf(receiptWith("completed")))).not.toContain("secret");
  });

  test("a ledger refers to the receipts that the task's receipt contains", () => {
    const nested = receiptWith("completed");
    expect(ledgerOf(receiptWith("completed", [nested]))?.delegation_receipts).toMatchObject([
      { task_id: "t", signature_prefix: nested.signature.slice(0, 16) },
    ]);
  });

  test("a ledger refers to a receipt that is too large for the task's receipt", () => {
    const outcome = { status: "completed" as const, result: "r".repeat(600_000) };
    const end = { outcome, toolsUsed: [], nested: [], completedAt: 2_000 };
    const large = buildReceipt(task, end, { identity, deviceId: "device" });
    const nested = [large, large];
    const { receipt, ledger } = signWork(
      task,
      outcome,
      { nested, timeline: timelineOf(1) },
      signer,
    );
    expect(receipt.delegation_receipts ?? []).toEqual([]);
    expect(ledger?.delegation_receipts).toHaveLength(2);
    expect(verifyLedger(ledger ?? {}, { publicKey: identity.publicKey }).valid).toBe(true);
  });

  test("a ledger larger than a request is left out", () => {
    expect(ledgerOf(receiptWith("completed"), 2_500)).toBeDefined();
    expect(ledgerOf(receiptWith("completed"), 4_500)).toBeUndefined();
  });
});
