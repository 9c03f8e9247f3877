import { createManualClock } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import { getPlaceHolder, type PlaceHolder } from "./place-holder.ts";
import { createApprovals, type InMemoryApprovals, type ApprovalResult } from "./approvals.ts";

const stranger = (agentId: string): Caller => ({ kind: "agent", agentId, trust: "unknown" });

function newApprovals() {
  const clock = createManualClock();
  let count = 0;
  const randomBytes = (length: number) => {
    count += 1;
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(length - 4, count);
    return bytes;
  };
  return { clock, approvals: createApprovals({ now: clock.now, randomBytes }) };
}

function take(
  approvals: InMemoryApprovals,
  argsHash = "h",
  caller: Caller = owner,
  tool = "t",
): ApprovalResult {
  return takeFor(approvals, getPlaceHolder(caller), argsHash, tool);
}

function takeFor(
  approvals: InMemoryApprovals,
  holder: PlaceHolder,
  argsHash = "h",
  tool = "t",
): ApprovalResult {
  return approvals.requestApproval({ tool, risk: 3, holder, args: { text: argsHash }, argsHash });
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

  test("A27: an approval requested by a clock that is a day ahead ends once the clock is corrected", async () => {
    const { approvals, clock } = newApprovals();
    approvals.decide(idOf(take(approvals)), "approved");
    const honest = idOf(take(approvals, "minutes"));
    approvals.decide(honest, "approved");
    await clock.advance(-120_000);
    expect(take(approvals, "minutes")).toEqual({ status: "approved", approvalId: honest });
    await clock.advance(-86_400_000);
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

describe("the list of approvals", () => {
  /** Asks for approvals of several calls of each caller, and returns their ids. */
  function flood(approvals: InMemoryApprovals, callers: number, calls: number): string[] {
    return Array.from({ length: callers * calls }, (_, index) =>
      idOf(take(approvals, String(index), stranger(`flood ${index % callers}`))),
    );
  }
  const countOf = (approvals: InMemoryApprovals, { agentId }: { agentId: string }) =>
    approvals.list().filter(({ caller }) => caller === `agent:${agentId}`).length;

  test("the list of approvals has at most 50 of one stranger, whose 51st call ends none of them", () => {
    const { approvals } = newApprovals();
    const ids = flood(approvals, 1, 50);
    expect(take(approvals, "51st", stranger("flood 0"))).toEqual({ status: "full" });
    for (const id of ids) expect(approvals.decide(id, "approved")).toMatchObject({ ok: true });
    for (let index = 0; index < 50; index += 1)
      expect(take(approvals, String(index), stranger("flood 0")).status).toBe("approved");
    expect(take(approvals, "51st", stranger("flood 0")).status).toBe("pending");
  });

  const relay: Caller = { kind: "relay", relayId: "r" };
  const submitter = (submittedBy: string, estimatedCost = 0): PlaceHolder =>
    getPlaceHolder(relay, { submittedBy, estimatedCost });

  test("E12: an approval of a relay's task is for its submitter alone", () => {
    const { approvals } = newApprovals();
    const asked = idOf(takeFor(approvals, submitter("honest")));
    approvals.decide(asked, "approved");
    expect(takeFor(approvals, submitter("other")).status).toBe("pending");
    expect(takeFor(approvals, submitter("honest"))).toEqual({
      status: "approved",
      approvalId: asked,
    });
  });

  test("E12: one submitter of a relay has at most 50 waiting calls, and a full list is shared by all", () => {
    const { approvals } = newApprovals();
    const [greedy, honest] = [submitter("greedy"), submitter("honest")];
    for (let index = 0; index < 1_000; index += 1) takeFor(approvals, greedy, String(index));
    expect(approvals.list()).toHaveLength(50);
    for (let index = 0; index < 950; index += 1)
      takeFor(approvals, submitter(`other ${index % 19}`), String(index));
    expect(approvals.list()).toHaveLength(1_000);
    expect(takeFor(approvals, honest).status).toBe("pending");
    expect(approvals.list()).toHaveLength(1_000);
    expect(takeFor(approvals, greedy, "more")).toEqual({ status: "full" });
  });

  test("E12: a thousand submitters of free tasks take no places from the submitters of paid tasks", () => {
    const { approvals } = newApprovals();
    for (let index = 0; index < 1_000; index += 1) takeFor(approvals, submitter(`free ${index}`));
    expect(takeFor(approvals, submitter("late"))).toEqual({ status: "full" });
    expect(takeFor(approvals, submitter("late", 0.001)).status).toBe("pending");
    expect(approvals.list()).toHaveLength(1_001);
  });

  test("the list of approvals drops no waiting task of a relay that names no submitters for another task", () => {
    const { approvals } = newApprovals();
    const honest = idOf(take(approvals, "honest", relay));
    for (let index = 0; index < 998; index += 1) take(approvals, String(index), relay);
    expect(take(approvals, "another", relay).status).toBe("pending");
    expect(take(approvals, "one more", relay)).toEqual({ status: "full" });
    expect(approvals.decide(honest, "approved")).toMatchObject({ ok: true });
  });

  test("the list of approvals accepts calls of the owner, the relay, known and new agents when strangers have filled it", () => {
    const { approvals } = newApprovals();
    flood(approvals, 20, 50);
    expect(approvals.list()).toHaveLength(1_000);
    const known: Caller = { kind: "agent", agentId: "known", trust: "first_contact" };
    for (const caller of [owner, relay, known])
      expect(take(approvals, "h", caller).status).toBe("pending");
    expect(approvals.list()).toHaveLength(1_003);
    const honest = stranger("honest");
    expect(take(approvals, "h", honest).status).toBe("pending");
    expect(approvals.list()).toHaveLength(1_003);
    expect(countOf(approvals, { agentId: "flood 0" })).toBe(49);
  });

  test("the list of approvals keeps its waiting calls when a thousand strangers with one call each ask again", () => {
    const { approvals } = newApprovals();
    flood(approvals, 1_000, 1);
    const before = approvals.list();
    expect(take(approvals, "h", stranger("late"))).toEqual({ status: "full" });
    expect(approvals.list()).toEqual(before);
  });

  test("the list of approvals drops denied approvals first, and never one that was approved and not yet used", () => {
    const { approvals } = newApprovals();
    const ids = flood(approvals, 20, 50);
    const mine = stranger("flood 0");
    approvals.decide(ids[0]!, "approved");
    approvals.decide(ids[999]!, "denied");
    take(approvals, "h", stranger("late"));
    expect(approvals.decide(ids[999]!, "approved")).toMatchObject({ code: "approval.not_found" });
    for (let index = 0; index < 49; index += 1)
      take(approvals, String(index), stranger(`other ${index}`));
    expect(take(approvals, "0", mine)).toEqual({ status: "approved", approvalId: ids[0] });
  });

  test("the list of approvals never uses the id of a dropped approval for another call", () => {
    const { approvals } = newApprovals();
    const ids = flood(approvals, 20, 50);
    take(approvals, "h", stranger("late"));
    const listed = approvals.list().map(({ approvalId }) => approvalId);
    const [gone] = ids.filter((id) => !listed.includes(id));
    expect(approvals.decide(gone!, "approved")).toEqual({ ok: false, code: "approval.not_found" });
    expect(approvals.list().filter(({ status }) => status !== "pending")).toEqual([]);
    expect(take(approvals, "h", stranger("late")).status).toBe("pending");
  });
});

test("the list of approvals does not store arguments that are too long", () => {
  const { approvals } = newApprovals();
  take(approvals, "x".repeat(20_000));
  expect(approvals.list()).toMatchObject([{ args: null }]);
});
