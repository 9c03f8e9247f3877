import { describe, expect, test } from "vitest";
import {
  beta,
  buildInboundTask,
  buildOutboundTask,
  gamma,
  NOW,
  SCHEDULE,
} from "../../test/messages.ts";
import {
  beginNotice,
  checkCancelNotice,
  endNotice,
  isNoticeDue,
  requestNotice,
  stopNotice,
} from "./cancel-notice.ts";

const ended = buildInboundTask({ state: "void" });
const until = NOW + 7_200_000;

describe("the relay whose task ended without a receipt", () => {
  test("FE28: the notice is sent at once, then after at most 5 minutes, until the sender's end of the task", () => {
    let task = requestNotice(ended, { now: NOW, until: NOW + 1_500_000 });
    const sentAt: number[] = [];
    for (let now = NOW; now < NOW + 4_000_000; now += 1_000) {
      if (!isNoticeDue(task, now)) continue;
      task = beginNotice(task, SCHEDULE, { now, until: NOW + 1_500_000 });
      if (task.dueAt !== null) sentAt.push((now - NOW) / 1_000);
    }
    expect(sentAt).toEqual([0, 30, 150, 450, 750, 1_050, 1_350]);
    expect(task.dueAt).toBeNull();
  });

  test.each([
    ["that runs", buildInboundTask(), until],
    [
      "that has a receipt",
      buildInboundTask({ state: "void", receiptHash: "ab", receiptStatus: "completed" }),
      until,
    ],
    ["whose sender has ended it by its expiry", ended, NOW],
  ])("FE28: no notice is sent of a task %s", (_, task, end) => {
    expect(requestNotice(task, { now: NOW, until: end })).toBe(task);
  });

  test.each([
    ["that ended without a receipt", true, { ...ended, dueAt: NOW }],
    ["whose notice is due later", false, { ...ended, dueAt: NOW + 1 }],
    ["whose sender knows of its end", false, { ...ended, dueAt: null }],
    [
      "whose result is returned",
      false,
      buildInboundTask({ state: "returning", receiptHash: "ab", dueAt: NOW }),
    ],
    ["whose result was refused", false, { ...ended, receiptHash: "ab", dueAt: NOW }],
  ] as const)("a notice is due of a task %s: %s", (_, expected, task) => {
    expect(isNoticeDue(task, NOW)).toBe(expected);
  });

  test.each([
    ["accepted", { kind: "answered", status: 200 }, null],
    ["an unknown task", { kind: "answered", status: 404, code: "cancel.task_not_found" }, null],
    [
      "a task with a result",
      { kind: "answered", status: 409, code: "cancel.already_finished" },
      null,
    ],
    ["overload", { kind: "answered", status: 429 }, NOW],
    ["frozen", { kind: "answered", status: 503, code: "server.frozen" }, NOW],
    ["a lost answer", { kind: "unknown" }, NOW],
    ["no connection", { kind: "unreachable" }, NOW],
  ] as const)("FE28: after %s the notice is due as specified", (_, delivery, dueAt) => {
    const task = requestNotice(ended, { now: NOW, until });
    expect(endNotice(task, delivery).dueAt).toBe(dueAt);
    expect(stopNotice(task).dueAt).toBeNull();
  });
});

describe("the relay that sent a task", () => {
  test.each([
    ["a task that may have arrived", buildOutboundTask(), "running"],
    ["a task that the peer has", buildOutboundTask({ state: "forwarded" }), "running"],
    ["a task that is over", buildOutboundTask({ state: "void" }), "cancelled"],
    ["no such task", null, "cancel.task_not_found"],
    [
      "a task that the peer refused",
      buildOutboundTask({ state: "refused" }),
      "cancel.task_not_found",
    ],
    ["a task of another peer", buildOutboundTask({ peerId: gamma.id }), "cancel.wrong_peer"],
    [
      "a result on its way back",
      buildOutboundTask({ state: "relaying", receiptHash: "ab", receiptStatus: "completed" }),
      "cancel.already_finished",
    ],
    [
      "a result",
      buildOutboundTask({ state: "completed", receiptHash: "ab", receiptStatus: "completed" }),
      "cancel.already_finished",
    ],
    [
      "a result that came too late for the relay before",
      buildOutboundTask({ state: "void", receiptHash: "ab", receiptStatus: "completed" }),
      "cancel.already_finished",
    ],
    [
      "a result of failed work",
      buildOutboundTask({ state: "failed", receiptHash: "ab", receiptStatus: "failed" }),
      "cancel.already_finished",
    ],
  ] as const)("FE28: a notice about %s is answered as specified", (_, task, found) => {
    const checked = checkCancelNotice(task, { from: beta.id });
    expect(checked.ok ? checked.state : checked.code).toBe(found);
  });
});
