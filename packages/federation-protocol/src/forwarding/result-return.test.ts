import { asMicro } from "@agent/budget";
import { describe, expect, it } from "vitest";
import { applyAnswer, buildAnswer, buildFinishedTask } from "../../test/inbound-results.ts";
import { NOW, SCHEDULE, buildInboundTask } from "../../test/messages.ts";
import type { Delivery } from "../delivery/delivery.ts";
import {
  clearDefault,
  getDefaultedAmount,
  expireInbound,
  type InboundState,
  type InboundTask,
  postponeInbound,
} from "./inbound-task.ts";
import {
  abandonReturn,
  acknowledgeReturn,
  awaitLateSettlement,
  beginReturn,
  endReturn,
  isReturnDue,
  restartReturn,
} from "./result-return.ts";

describe("A result that is returned", () => {
  it.each<[string, Delivery, InboundState]>([
    ["accepted", buildAnswer(200), "completed"],
    ["forwarded and not answered there yet", buildAnswer(202), "returning"],
    ["for a task that no longer exists", buildAnswer(404), "void"],
    ["of a relay that the task was taken from", buildAnswer(403, "result.wrong_peer"), "void"],
    ["after another receipt", buildAnswer(409), "void"],
    ["refused temporarily", buildAnswer(403), "returning"],
    [
      "refused by a relay whose federation is off",
      buildAnswer(404, "route.not_found"),
      "returning",
    ],
    ["refused by a proxy", { kind: "answered", status: 404 }, "returning"],
    ["answered by a failure", buildAnswer(500), "returning"],
    ["lost", { kind: "unknown" }, "returning"],
    ["never sent", { kind: "unreachable" }, "returning"],
  ])("a result that is %s leads to the specified state of the task", (_, delivery, state) => {
    const task = applyAnswer(beginReturn(buildFinishedTask(), SCHEDULE, NOW), delivery);
    expect(task.state).toBe(state);
    expect(task.hold).toBe(state === "void" ? "released" : "open");
    expect(isReturnDue(task, Infinity)).toBe(state === "returning");
  });

  it("a result that is returned is sent at once, then after 30 s, 2 min, 8 min, 32 min and every 2 h", () => {
    let task = buildFinishedTask();
    expect(isReturnDue(task, NOW)).toBe(true);
    const pauses = Array.from({ length: 7 }, () => {
      task = beginReturn(task, SCHEDULE, 0);
      return task.dueAt;
    });
    expect(pauses).toEqual([30_000, 120_000, 480_000, 1_920_000, 7_200_000, 7_200_000, 7_200_000]);
  });

  it("a result that is returned is sent when it is due, and not before", () => {
    const task = beginReturn(buildFinishedTask(), SCHEDULE, NOW);
    expect([NOW, NOW + 29_999, NOW + 30_000].map((now) => isReturnDue(task, now))).toEqual([
      false,
      false,
      true,
    ]);
    expect(isReturnDue(buildInboundTask({ dueAt: NOW }), NOW)).toBe(false);
  });

  it("a result that is returned is not reverted by a later answer", () => {
    const task = applyAnswer(buildFinishedTask(), buildAnswer(200));
    expect(applyAnswer(task, buildAnswer(404))).toBe(task);
  });

  it("a result that is returned is abandoned with its hold unless its peer has answered", () => {
    expect(abandonReturn(buildFinishedTask())).toMatchObject({
      state: "void",
      dueAt: null,
      hold: "released",
    });
    expect(abandonReturn(buildFinishedTask("failed"))).toMatchObject({
      state: "void",
      hold: "released",
    });
    const taken = acknowledgeReturn(buildFinishedTask());
    expect(abandonReturn(taken)).toBe(taken);
  });

  it("a result that is returned counts as accepted when its peer settles it", () => {
    expect(acknowledgeReturn(buildFinishedTask())).toMatchObject({
      state: "completed",
      dueAt: null,
    });
    expect(acknowledgeReturn(buildInboundTask())).toEqual(buildInboundTask());
  });
});

it("A8: a result that a frozen peer did not process is sent again after the same pause", () => {
  const first = beginReturn(buildFinishedTask(), SCHEDULE, NOW);
  const frozen = applyAnswer(first, buildAnswer(503, "server.frozen"));
  expect(frozen).toMatchObject({ state: "returning", attempts: 0, dueAt: first.dueAt });
  const pause = (task: InboundTask) => Number(beginReturn(task, SCHEDULE, NOW).dueAt) - NOW;
  expect(pause(frozen)).toBe(SCHEDULE.pauses[0]);
  expect(pause(applyAnswer(first, buildAnswer(500)))).toBe(SCHEDULE.pauses[1]);
});

it.each<[string, Delivery, pause: number]>([
  ["429", buildAnswer(429), 30_000],
  ["429 and a longer pause", { ...buildAnswer(429), retryAfterMs: 60_000 } as Delivery, 60_000],
  ["503 of a draining relay", buildAnswer(503, "server.draining"), 30_000],
])("a result that is answered with %s counts no attempt", (_, delivery, pause) => {
  const first = beginReturn(buildFinishedTask(), SCHEDULE, NOW);
  const deferred = applyAnswer(first, delivery);
  expect(deferred).toMatchObject({ state: "returning", attempts: 0, dueAt: NOW + pause });
  expect(applyAnswer({ ...first, attempts: 3 }, delivery).attempts).toBe(2);
});

it("A9: a default can still be settled after its result was returned again and refused", () => {
  const again = restartReturn(
    { ...buildFinishedTask(), state: "completed", hold: "defaulted" },
    NOW,
  );
  expect(again.state).toBe("returning");
  for (const ended of [applyAnswer(again, buildAnswer(404)), abandonReturn(again)]) {
    expect(ended).toMatchObject({ state: "completed", hold: "defaulted", dueAt: null });
  }
});

describe("A9: a completed result that its peer has read and not accepted", () => {
  const { expiresAt } = buildFinishedTask();
  const free = { ...buildFinishedTask(), amount: asMicro(0) };

  it.each<[string, InboundTask, Delivery, sentAt: number, InboundTask["hold"]]>([
    ["404 is a default", buildFinishedTask(), buildAnswer(404), expiresAt - 300_001, "defaulted"],
    [
      "404 is none if it came after the expiry by a clock that is five minutes ahead",
      buildFinishedTask(),
      buildAnswer(404),
      expiresAt - 300_000,
      "released",
    ],
    [
      "202 is none if it came after the expiry by a clock that is five minutes ahead",
      buildFinishedTask(),
      buildAnswer(202),
      expiresAt - 300_000,
      "released",
    ],
    [
      "404 is none if a freeze has moved the expiry",
      postponeInbound(buildFinishedTask(), 900_000),
      buildAnswer(404),
      expiresAt,
      "released",
    ],
    [
      "400 is a default, for it was verified here",
      buildFinishedTask(),
      buildAnswer(400),
      NOW,
      "defaulted",
    ],
    ["409 is a default", buildFinishedTask(), buildAnswer(409), NOW, "defaulted"],
    ["202 for ever is a default", buildFinishedTask(), buildAnswer(202), NOW, "defaulted"],
    [
      "404 is none if it was sent after the expiry",
      buildFinishedTask(),
      buildAnswer(404),
      expiresAt,
      "released",
    ],
    [
      "202 is none if it was sent after the expiry",
      buildFinishedTask(),
      buildAnswer(202),
      expiresAt,
      "released",
    ],
    [
      "404 is none if the work failed",
      buildFinishedTask("failed"),
      buildAnswer(404),
      NOW,
      "released",
    ],
    ["404 is none if the task was free", free, buildAnswer(404), NOW, "released"],
    ["a freeze is none", buildFinishedTask(), buildAnswer(503, "server.frozen"), NOW, "released"],
    [
      "429 is none, because it was not processed",
      buildFinishedTask(),
      buildAnswer(429),
      NOW,
      "released",
    ],
    ["nothing is none", buildFinishedTask(), { kind: "unknown" }, NOW, "released"],
    ["no connection is none", buildFinishedTask(), { kind: "unreachable" }, NOW, "released"],
  ])(
    "the answer to a completed result decides whether it is a default: %s",
    (_, task, delivery, sentAt, hold) => {
      const ended = applyAnswer(task, delivery, sentAt);
      expect(expireInbound(ended, ended.holdUntil).hold).toBe(hold);
    },
  );

  it("a completed result that was refused keeps its hold until it expires, then counts as owed and can be cleared", () => {
    const refused = applyAnswer(buildFinishedTask(), buildAnswer(404), NOW);
    expect(refused).toMatchObject({ state: "void", dueAt: null, hold: "open" });
    expect(expireInbound(refused, refused.holdUntil - 1)).toBe(refused);
    const defaulted = expireInbound(refused, refused.holdUntil);
    expect(getDefaultedAmount(defaulted)).toBe(defaulted.amount);
    expect(getDefaultedAmount(clearDefault(defaulted))).toBe(0);
  });

  it("a completed result that was refused just before its end keeps its hold until that expires", () => {
    const sentAt = expiresAt - 1;
    const refused = applyAnswer(buildFinishedTask(), buildAnswer(404), sentAt);
    expect(refused).toMatchObject({ state: "void", dueAt: null, hold: "open" });
    expect(expireInbound(refused, refused.holdUntil)).toMatchObject({ hold: "released" });
    expect(applyAnswer(free, buildAnswer(404), sentAt).hold).toBe("released");
    expect(applyAnswer(buildFinishedTask("failed"), buildAnswer(404), sentAt).hold).toBe(
      "released",
    );
  });
  it("a completed result is no default once the peer accepts and settles it after all", () => {
    const pending = applyAnswer(buildFinishedTask(), buildAnswer(202), NOW);
    expect(pending).toMatchObject({ state: "returning", hold: "open" });
    expect(applyAnswer(pending, buildAnswer(200))).toMatchObject({
      state: "completed",
      hold: "open",
    });
    expect(expireInbound({ ...pending, hold: "settled" }, Infinity).hold).toBe("settled");
  });

  it("a result whose settlement was refused for its time is sent again, and is a default if none comes in time", () => {
    const times = { ...SCHEDULE, sentAt: expiresAt, now: NOW, isSettlementExpired: true };
    const ended = endReturn(buildFinishedTask(), buildAnswer(200), times);
    expect(ended).toMatchObject({
      state: "returning",
      hold: "open",
      dueAt: buildFinishedTask().dueAt,
    });
    expect(applyAnswer(ended, buildAnswer(200))).toMatchObject({ state: "completed" });
    expect(expireInbound(ended, ended.holdUntil).hold).toBe("defaulted");
    expect(endReturn(buildFinishedTask("failed"), buildAnswer(200), times).wasRead).toBeUndefined();
  });

  it("a peer that answers with expired settlements after the hold has expired gets one more time to settle", () => {
    const released = expireInbound(buildFinishedTask(), buildFinishedTask().holdUntil);
    const times = { ...SCHEDULE, sentAt: NOW, now: NOW, isSettlementExpired: true };
    const ended = awaitLateSettlement(
      endReturn(released, buildAnswer(200), times),
      released,
      times,
    );
    expect(ended).toMatchObject({ state: "completed", hold: "due" });
    expect(expireInbound(ended, ended.holdUntil).hold).toBe("defaulted");
  });

  it("a completed result stays a default and ends without a receipt if it is refused only afterwards", () => {
    const defaulted = expireInbound(
      applyAnswer(buildFinishedTask(), buildAnswer(202), NOW),
      Infinity,
    );
    expect(applyAnswer(defaulted, buildAnswer(404))).toMatchObject({
      state: "void",
      hold: "defaulted",
    });
  });
});

it("a result that the peer has read keeps its hold when it is abandoned, and one that it has not loses it", () => {
  expect(abandonReturn({ ...buildFinishedTask(), wasRead: true }).hold).toBe("open");
  expect(abandonReturn(buildFinishedTask()).hold).toBe("released");
});
