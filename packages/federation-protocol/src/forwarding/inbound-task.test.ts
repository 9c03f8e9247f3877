import { asMicro, type ReceiptStatus } from "@agent/budget";
import { describe, expect, it } from "vitest";
import { NOW, SCHEDULE, buildInboundTask, TERMS } from "../../test/messages.ts";
import type { Delivery } from "../delivery/delivery.ts";
import {
  clearDefault,
  getDefaultedAmount,
  getRefusedAmount,
  expireInbound,
  finishInbound,
  getUndecidedAmount,
  isInboundClosed,
  type InboundState,
  type InboundTask,
  postponeInbound,
  voidInbound,
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

const finished = (status: ReceiptStatus = "completed") =>
  finishInbound(buildInboundTask(), { status, receiptHash: "ab" }, { now: NOW, ...SCHEDULE });
/** Applies the answer to a result that was sent too late, unless `sentAt` says otherwise. */
const applyAnswer = (task: InboundTask, delivery: Delivery, sentAt = task.expiresAt) =>
  endReturn(task, delivery, { ...SCHEDULE, sentAt, now: NOW });
const answered = (
  status: number,
  code: string | undefined = status < 400 ? undefined : "request.invalid",
): Delivery => ({ kind: "answered", status, code });

describe("A task that a peer sent", () => {
  it("a task holds the amount that the peer will owe until it is known that nothing is owed", () => {
    expect(buildInboundTask().hold).toBe("open");
    expect(finished().hold).toBe("open");
    expect(finished("failed").hold).toBe("released");
    expect(finished("denied").hold).toBe("released");
  });

  it("a task that a peer sent is finished by exactly one receipt", () => {
    const again = finishInbound(
      finished(),
      { status: "failed", receiptHash: "cd" },
      { now: NOW, ...SCHEDULE },
    );
    expect(again).toEqual(finished());
  });

  it("a task expires while it runs, which releases its hold", () => {
    const task = buildInboundTask();
    expect(expireInbound(task, task.expiresAt - 1)).toBe(task);
    expect(expireInbound(task, task.expiresAt)).toMatchObject({ state: "void", hold: "released" });
    expect(expireInbound(finished(), task.expiresAt).state).toBe("returning");
  });

  it("a task that is not settled keeps its state and loses its hold in the end", () => {
    const task = finished();
    expect(expireInbound(task, task.holdUntil - 1).hold).toBe("open");
    expect(expireInbound(task, task.holdUntil)).toEqual({ ...task, hold: "released" });
    const settled = { ...task, hold: "settled" as const };
    expect(expireInbound(settled, Infinity).hold).toBe("settled");
  });

  it("the hold of a task lasts longer than its sender's settlement attempts", () => {
    const tries = SCHEDULE.pauses.reduce((sum, pause) => sum + pause, SCHEDULE.settleDownMs);
    expect(finished().holdUntil - NOW).toBeGreaterThan(tries);
  });
});

describe("A result that is returned", () => {
  it.each<[string, Delivery, InboundState]>([
    ["accepted", answered(200), "completed"],
    ["forwarded and not answered there yet", answered(202), "returning"],
    ["for a task that no longer exists", answered(404), "void"],
    ["of a relay that the task was taken from", answered(403, "result.wrong_peer"), "void"],
    ["after another receipt", answered(409), "void"],
    ["refused temporarily", answered(403), "returning"],
    ["refused by a relay whose federation is off", answered(404, "route.not_found"), "returning"],
    ["refused by a proxy", { kind: "answered", status: 404 }, "returning"],
    ["answered by a failure", answered(500), "returning"],
    ["lost", { kind: "unknown" }, "returning"],
    ["never sent", { kind: "unreachable" }, "returning"],
  ])("a result that is %s leads to the specified state of the task", (_, delivery, state) => {
    const task = applyAnswer(beginReturn(finished(), SCHEDULE, NOW), delivery);
    expect(task.state).toBe(state);
    expect(task.hold).toBe(state === "void" ? "released" : "open");
    expect(isReturnDue(task, Infinity)).toBe(state === "returning");
  });

  it("a result that is returned is sent at once, then after 30 s, 2 min, 8 min, 32 min and every 2 h", () => {
    let task = finished();
    expect(isReturnDue(task, NOW)).toBe(true);
    const pauses = Array.from({ length: 7 }, () => {
      task = beginReturn(task, SCHEDULE, 0);
      return task.dueAt;
    });
    expect(pauses).toEqual([30_000, 120_000, 480_000, 1_920_000, 7_200_000, 7_200_000, 7_200_000]);
  });

  it("a result that is returned is sent when it is due, and not before", () => {
    const task = beginReturn(finished(), SCHEDULE, NOW);
    expect([NOW, NOW + 29_999, NOW + 30_000].map((now) => isReturnDue(task, now))).toEqual([
      false,
      false,
      true,
    ]);
    expect(isReturnDue(buildInboundTask({ dueAt: NOW }), NOW)).toBe(false);
  });

  it("a result that is returned is not reverted by a later answer", () => {
    const task = applyAnswer(finished(), answered(200));
    expect(applyAnswer(task, answered(404))).toBe(task);
  });

  it("a result that is returned is abandoned with its hold unless its peer has answered", () => {
    expect(abandonReturn(finished())).toMatchObject({
      state: "void",
      dueAt: null,
      hold: "released",
    });
    expect(abandonReturn(finished("failed"))).toMatchObject({ state: "void", hold: "released" });
    const taken = acknowledgeReturn(finished());
    expect(abandonReturn(taken)).toBe(taken);
  });

  it("a result that is returned counts as accepted when its peer settles it", () => {
    expect(acknowledgeReturn(finished())).toMatchObject({ state: "completed", dueAt: null });
    expect(acknowledgeReturn(buildInboundTask())).toEqual(buildInboundTask());
  });
});

describe("A9: a hold that expires", () => {
  const taken = () => acknowledgeReturn(finished());

  it.each<[string, InboundTask, InboundTask["hold"]]>([
    ["after its result was accepted is a default", taken(), "defaulted"],
    ["before its result was accepted is released", finished(), "released"],
    [
      "for a result that was not completed is released",
      acknowledgeReturn(finished("failed")),
      "released",
    ],
    ["for a free task is released", { ...taken(), amount: asMicro(0) }, "released"],
    ["for one micro-unit is a default", { ...taken(), amount: asMicro(1) }, "defaulted"],
    ["after its settlement stays settled", { ...taken(), hold: "settled" }, "settled"],
    ["that was due late is a default", { ...taken(), hold: "due" }, "defaulted"],
    ["that the operator has cleared stays released", { ...taken(), hold: "released" }, "released"],
    ["a second time stays a default", { ...taken(), hold: "defaulted" }, "defaulted"],
  ])("A9: a hold that expires %s", (_, task, hold) => {
    expect(expireInbound(task, task.holdUntil - 1).hold).toBe(task.hold);
    expect(expireInbound(task, task.holdUntil).hold).toBe(hold);
  });

  it("an expired hold counts as owed until it is settled or cleared", () => {
    const defaulted = expireInbound(taken(), Infinity);
    expect(getDefaultedAmount(defaulted)).toBe(defaulted.amount);
    expect(getDefaultedAmount(taken())).toBe(0);
    const cleared = clearDefault(defaulted);
    expect([cleared.hold, getDefaultedAmount(cleared)]).toEqual(["released", 0]);
    expect(clearDefault(taken())).toEqual(taken());
  });

  it("an expired hold is due anew if the peer accepts the result only afterwards", () => {
    const times = { now: NOW + 1_000, holdMs: 500 };
    const expired = expireInbound(finished(), Infinity);
    const late = awaitLateSettlement(applyAnswer(expired, answered(200)), expired, times);
    expect(late).toMatchObject({ state: "completed", hold: "due", holdUntil: NOW + 1_500 });
    const inTime = finished();
    const kept = awaitLateSettlement(applyAnswer(inTime, answered(200)), inTime, times);
    expect(kept).toMatchObject({ state: "completed", hold: "open" });
    const free = { ...expired, amount: asMicro(0) };
    expect(awaitLateSettlement(applyAnswer(free, answered(200)), free, times).hold).toBe(
      "released",
    );
    const cheapest = { ...expired, amount: asMicro(1) };
    expect(awaitLateSettlement(applyAnswer(cheapest, answered(200)), cheapest, times).hold).toBe(
      "due",
    );
  });

  it("an expired hold is due anew only for the answer that ended the return of a completed result", () => {
    const times = { now: NOW, holdMs: 500 };
    const expired = expireInbound(finished(), Infinity);
    const cleared = clearDefault(expireInbound(taken(), Infinity));
    for (const [before, after] of [
      [cleared, cleared],
      [expired, abandonReturn(expired)],
      [expired, { ...expired, state: "failed" }],
    ] as const) {
      expect(awaitLateSettlement(after, before, times)).toBe(after);
    }
  });
});

describe("A8: the tasks of peers", () => {
  it("the deadlines of a peer's task are postponed by the time for which the relay was frozen", () => {
    const task = finished();
    const postponed = postponeInbound(task, 60_000);
    expect(postponed).toEqual({
      ...task,
      awaitedUntil: task.expiresAt,
      expiresAt: task.expiresAt + 60_000,
      holdUntil: task.holdUntil + 60_000,
    });
    // The peer's own end moves by no freeze of this relay.
    expect(postponeInbound(postponed, 60_000).awaitedUntil).toBe(task.expiresAt);
  });

  it("a peer's task is returned again after a restore while it is completed and not settled", () => {
    const again = restartReturn(acknowledgeReturn(finished()), NOW + 7);
    expect(again).toMatchObject({ state: "returning", attempts: 0, dueAt: NOW + 7, hold: "open" });
    const waiting = { ...finished(), attempts: 4, dueAt: NOW + 9_000 };
    expect(restartReturn(waiting, NOW + 7)).toMatchObject({ attempts: 0, dueAt: NOW + 7 });
    const terms = { ...TERMS, settlementId: "s", bookedAt: NOW };
    const others: InboundTask[] = [
      buildInboundTask(),
      { ...acknowledgeReturn(finished()), hold: "settled", settlement: terms },
      acknowledgeReturn(finished("failed")),
      abandonReturn(finished()),
      finished("failed"),
    ];
    for (const task of others) expect(restartReturn(task, NOW)).toBe(task);
  });
});

it("A8: a result that a frozen peer did not process is sent again after the same pause", () => {
  const first = beginReturn(finished(), SCHEDULE, NOW);
  const frozen = applyAnswer(first, answered(503, "server.frozen"));
  expect(frozen).toMatchObject({ state: "returning", attempts: 0, dueAt: first.dueAt });
  const pause = (task: InboundTask) => Number(beginReturn(task, SCHEDULE, NOW).dueAt) - NOW;
  expect(pause(frozen)).toBe(SCHEDULE.pauses[0]);
  expect(pause(applyAnswer(first, answered(500)))).toBe(SCHEDULE.pauses[1]);
});

it.each<[string, Delivery, pause: number]>([
  ["429", answered(429), 30_000],
  ["429 and a longer pause", { ...answered(429), retryAfterMs: 60_000 } as Delivery, 60_000],
  ["503 of a draining relay", answered(503, "server.draining"), 30_000],
])("a result that is answered with %s counts no attempt", (_, delivery, pause) => {
  const first = beginReturn(finished(), SCHEDULE, NOW);
  const deferred = applyAnswer(first, delivery);
  expect(deferred).toMatchObject({ state: "returning", attempts: 0, dueAt: NOW + pause });
  expect(applyAnswer({ ...first, attempts: 3 }, delivery).attempts).toBe(2);
});

it("A9: a default can still be settled after its result was returned again and refused", () => {
  const again = restartReturn({ ...finished(), state: "completed", hold: "defaulted" }, NOW);
  expect(again.state).toBe("returning");
  for (const ended of [applyAnswer(again, answered(404)), abandonReturn(again)]) {
    expect(ended).toMatchObject({ state: "completed", hold: "defaulted", dueAt: null });
  }
});

describe("A9: a completed result that its peer has read and not accepted", () => {
  const { expiresAt } = finished();
  const free = { ...finished(), amount: asMicro(0) };

  it.each<[string, InboundTask, Delivery, sentAt: number, InboundTask["hold"]]>([
    ["404 is a default", finished(), answered(404), expiresAt - 300_001, "defaulted"],
    [
      "404 is none if it came after the expiry by a clock that is five minutes ahead",
      finished(),
      answered(404),
      expiresAt - 300_000,
      "released",
    ],
    [
      "202 is none if it came after the expiry by a clock that is five minutes ahead",
      finished(),
      answered(202),
      expiresAt - 300_000,
      "released",
    ],
    [
      "404 is none if a freeze has moved the expiry",
      postponeInbound(finished(), 900_000),
      answered(404),
      expiresAt,
      "released",
    ],
    ["400 is a default, for it was verified here", finished(), answered(400), NOW, "defaulted"],
    ["409 is a default", finished(), answered(409), NOW, "defaulted"],
    ["202 for ever is a default", finished(), answered(202), NOW, "defaulted"],
    [
      "404 is none if it was sent after the expiry",
      finished(),
      answered(404),
      expiresAt,
      "released",
    ],
    [
      "202 is none if it was sent after the expiry",
      finished(),
      answered(202),
      expiresAt,
      "released",
    ],
    ["404 is none if the work failed", finished("failed"), answered(404), NOW, "released"],
    ["404 is none if the task was free", free, answered(404), NOW, "released"],
    ["a freeze is none", finished(), answered(503, "server.frozen"), NOW, "released"],
    ["429 is none, because it was not processed", finished(), answered(429), NOW, "released"],
    ["nothing is none", finished(), { kind: "unknown" }, NOW, "released"],
    ["no connection is none", finished(), { kind: "unreachable" }, NOW, "released"],
  ])(
    "the answer to a completed result decides whether it is a default: %s",
    (_, task, delivery, sentAt, hold) => {
      const ended = applyAnswer(task, delivery, sentAt);
      expect(expireInbound(ended, ended.holdUntil).hold).toBe(hold);
    },
  );

  it("a completed result that was refused keeps its hold until it expires, then counts as owed and can be cleared", () => {
    const refused = applyAnswer(finished(), answered(404), NOW);
    expect(refused).toMatchObject({ state: "void", dueAt: null, hold: "open" });
    expect(expireInbound(refused, refused.holdUntil - 1)).toBe(refused);
    const defaulted = expireInbound(refused, refused.holdUntil);
    expect(getDefaultedAmount(defaulted)).toBe(defaulted.amount);
    expect(getDefaultedAmount(clearDefault(defaulted))).toBe(0);
  });

  it("a completed result that was refused just before its end keeps its hold until that expires", () => {
    const sentAt = expiresAt - 1;
    const refused = applyAnswer(finished(), answered(404), sentAt);
    expect(refused).toMatchObject({ state: "void", dueAt: null, hold: "open" });
    expect(expireInbound(refused, refused.holdUntil)).toMatchObject({ hold: "released" });
    expect(applyAnswer(free, answered(404), sentAt).hold).toBe("released");
    expect(applyAnswer(finished("failed"), answered(404), sentAt).hold).toBe("released");
  });
  it("a completed result is no default once the peer accepts and settles it after all", () => {
    const pending = applyAnswer(finished(), answered(202), NOW);
    expect(pending).toMatchObject({ state: "returning", hold: "open" });
    expect(applyAnswer(pending, answered(200))).toMatchObject({ state: "completed", hold: "open" });
    expect(expireInbound({ ...pending, hold: "settled" }, Infinity).hold).toBe("settled");
  });

  it("a result whose settlement was refused for its time is sent again, and is a default if none comes in time", () => {
    const times = { ...SCHEDULE, sentAt: expiresAt, now: NOW, isSettlementExpired: true };
    const ended = endReturn(finished(), answered(200), times);
    expect(ended).toMatchObject({ state: "returning", hold: "open", dueAt: finished().dueAt });
    expect(applyAnswer(ended, answered(200))).toMatchObject({ state: "completed" });
    expect(expireInbound(ended, ended.holdUntil).hold).toBe("defaulted");
    expect(endReturn(finished("failed"), answered(200), times).wasRead).toBeUndefined();
  });

  it("a peer that answers with expired settlements after the hold has expired gets one more time to settle", () => {
    const released = expireInbound(finished(), finished().holdUntil);
    const times = { ...SCHEDULE, sentAt: NOW, now: NOW, isSettlementExpired: true };
    const ended = awaitLateSettlement(endReturn(released, answered(200), times), released, times);
    expect(ended).toMatchObject({ state: "completed", hold: "due" });
    expect(expireInbound(ended, ended.holdUntil).hold).toBe("defaulted");
  });

  it("a completed result stays a default and ends without a receipt if it is refused only afterwards", () => {
    const defaulted = expireInbound(applyAnswer(finished(), answered(202), NOW), Infinity);
    expect(applyAnswer(defaulted, answered(404))).toMatchObject({
      state: "void",
      hold: "defaulted",
    });
  });
});

it("a result that the peer has read keeps its hold when it is abandoned, and one that it has not loses it", () => {
  expect(abandonReturn({ ...finished(), wasRead: true }).hold).toBe("open");
  expect(abandonReturn(finished()).hold).toBe("released");
});

it("a task that has a result is neither voided nor acknowledged after its result was abandoned", () => {
  expect(voidInbound(finished())).toEqual(finished());
  const abandoned = abandonReturn(finished());
  expect(acknowledgeReturn(abandoned)).toBe(abandoned);
});

const settlement = { ...TERMS, settlementId: "s", bookedAt: NOW };

describe("what a task that a peer sent leaves open", () => {
  it.each<[string, boolean, Partial<InboundTask>]>([
    ["that runs", false, { state: "running", hold: "open" }],
    ["whose result is returned", false, { state: "returning", hold: "released" }],
    ["whose hold is open", false, { state: "completed", hold: "open" }],
    ["whose late settlement is due", false, { state: "completed", hold: "due" }],
    ["whose sender has defaulted", false, { state: "completed", hold: "defaulted" }],
    ["that is settled", false, { state: "completed", hold: "settled", settlement }],
    ["that ended without a hold", true, { state: "completed", hold: "released" }],
    ["that ended without a result", true, { state: "void", hold: "released" }],
  ])("a task of a peer %s can be deleted: %s", (_, expected, change) => {
    expect(isInboundClosed(buildInboundTask(change))).toBe(expected);
  });

  const unanswered = { ...finished(), hold: "released" } as const;
  it.each<[string, boolean, InboundTask]>([
    ["whose result the peer never answered", true, unanswered],
    ["whose late settlement is due", true, { ...unanswered, state: "completed", hold: "due" }],
    ["whose hold is open", false, finished()],
    ["of failed work", false, { ...unanswered, receiptStatus: "failed" }],
    [
      "whose result the peer has read, and that the operator released",
      false,
      { ...unanswered, wasRead: true },
    ],
    ["whose result was refused", false, { ...unanswered, state: "void" }],
    ["whose default the operator has cleared", false, { ...unanswered, state: "completed" }],
    ["whose sender has defaulted", false, { ...unanswered, state: "completed", hold: "defaulted" }],
  ])("a task of a peer %s uses up the peer's credit: %s", (_, expected, task) => {
    expect(getUndecidedAmount(task)).toBe(expected ? task.amount : 0);
  });
});

describe("MN38: a completed result that its peer refused when it may have been too late", () => {
  const { expiresAt } = finished();
  const refuse = (task: InboundTask, sentAt: number) => {
    const ended = applyAnswer(task, answered(404), sentAt);
    return expireInbound(ended, ended.holdUntil);
  };
  const late = finishInbound(
    postponeInbound(buildInboundTask(), 900_000),
    { status: "completed", receiptHash: "0".repeat(64) },
    { now: expiresAt, holdMs: 1 },
  );

  it.each<[string, InboundTask, isRefused: boolean]>([
    ["after the end", refuse(finished(), expiresAt), true],
    ["in the last five minutes", refuse(finished(), expiresAt - 1), true],
    ["after the operator has cleared it", clearDefault(refuse(finished(), expiresAt)), false],
    ["before, which is a default", refuse(finished(), NOW), false],
    ["after a cleared default", clearDefault(refuse(finished(), NOW)), false],
    ["that failed", refuse(finished("failed"), expiresAt), false],
    ["that was free", refuse({ ...finished(), amount: asMicro(0) }, expiresAt), false],
    ["that a freeze of this relay made late", refuse(late, expiresAt), false],
    ["that is still returned", finished(), false],
    ["that was accepted", acknowledgeReturn(finished()), false],
  ])(
    "MN38: the amount of a result refused %s counts only if the peer may have lied",
    (_, task, isRefused) => {
      expect(getRefusedAmount(task)).toBe(isRefused ? task.amount : 0);
      expect(getRefusedAmount(clearDefault(task))).toBe(0);
    },
  );
});
