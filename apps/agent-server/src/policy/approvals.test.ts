import { createManualClock } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import { createApprovals, type InMemoryApprovals, type ApprovalResult } from "./approvals.ts";

const stranger = (agentId: string): Caller => ({ kind: "agent", agentId, trust: "unknown" });

function newApprovals() {
  const clock = createManualClock();
  let count = 0;
  const randomBytes = (length: number) => {
    count += 1;
    return new Uint8Array(length).fill(count % 256);
  };
  return { clock, approvals: createApprovals({ now: clock.now, randomBytes }) };
}

function take(
  approvals: InMemoryApprovals,
  argsHash = "h",
  caller: Caller = owner,
  tool = "t",
): ApprovalResult {
  return approvals.requestApproval({ tool, risk: 3, caller, args: { text: argsHash }, argsHash });
}

function idOf(taken: ApprovalResult): string {
  return taken.status === "full" ? "" : taken.approvalId;
}

describe("an approval", () => {
  test("an approval is requested once, however often the call is repeated", () => {
    const { approvals } = newApprovals();
    const first = take(approvals);
    expect(first.status).toBe("pending");
    expect(take(approvals)).toEqual(first);
    expect(approvals.list()).toMatchObject([{ tool: "t", risk: 3, args: { text: "h" } }]);
  });

  test("an approval is valid for one call", () => {
    const { approvals } = newApprovals();
    const approvalId = idOf(take(approvals));
    expect(approvals.decide(approvalId, "approved")).toMatchObject({ ok: true });
    expect(take(approvals)).toEqual({ status: "approved", approvalId });
    const again = take(approvals);
    expect(again.status).toBe("pending");
    expect(idOf(again)).not.toBe(approvalId);
  });

  test("an approval is valid only for the same tool, arguments and caller", () => {
    const { approvals } = newApprovals();
    approvals.decide(idOf(take(approvals)), "approved");
    expect(take(approvals, "other").status).toBe("pending");
    expect(take(approvals, "h", stranger("a")).status).toBe("pending");
    expect(take(approvals, "h", owner, "other").status).toBe("pending");
    expect(take(approvals).status).toBe("approved");
  });

  test("a denied approval stays denied", () => {
    const { approvals } = newApprovals();
    approvals.decide(idOf(take(approvals)), "denied");
    expect(take(approvals).status).toBe("denied");
    expect(take(approvals).status).toBe("denied");
  });

  test("an approval expires after an hour, whether it was granted or not", async () => {
    const { approvals, clock } = newApprovals();
    const given = idOf(take(approvals));
    approvals.decide(given, "approved");
    const waiting = idOf(take(approvals, "other"));
    await clock.advance(3_600_000);
    expect(approvals.list()).toEqual([]);
    expect(approvals.decide(waiting, "approved")).toMatchObject({ code: "approval.not_found" });
    expect(take(approvals).status).toBe("pending");
  });

  test("an approval can be decided only once", () => {
    const { approvals } = newApprovals();
    const approvalId = idOf(take(approvals));
    approvals.decide(approvalId, "denied");
    expect(approvals.decide(approvalId, "approved")).toEqual({
      ok: false,
      code: "approval.resolved",
    });
    expect(take(approvals).status).toBe("denied");
  });
});

test("no caller can fill the list alone, and entries expire", () => {
  const { approvals } = newApprovals();
  for (let index = 0; index < 60; index += 1) take(approvals, String(index), stranger("flood"));
  expect(approvals.list()).toHaveLength(50);
  expect(take(approvals, "one more", stranger("flood"))).toEqual({ status: "full" });
  expect(take(approvals, "h", stranger("other")).status).toBe("pending");
  for (let index = 0; index < 1_000; index += 1) take(approvals, "h", stranger(String(index)));
  expect(approvals.list()).toHaveLength(1_000);
});

test("overlong arguments are not stored", () => {
  const { approvals } = newApprovals();
  take(approvals, "x".repeat(20_000));
  expect(approvals.list()).toMatchObject([{ args: null }]);
});
