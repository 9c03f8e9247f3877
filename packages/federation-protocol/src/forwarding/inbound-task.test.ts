import { asMicro } from "@agent/budget";
import { describe, expect, it } from "vitest";
import { applyAnswer, buildAnswer, buildFinishedTask } from "../../test/inbound-results.ts";
import { NOW, SCHEDULE, buildInboundTask, TERMS } from "../../test/messages.ts";
import {
  clearDefault,
  getDefaultedAmount,
  getRefusedAmount,
  expireInbound,
  finishInbound,
  getUndecidedAmount,
  isInboundClosed,
  type InboundTask,
  postponeInbound,
  voidInbound,
} from "./inbound-task.ts";
import {
  abandonReturn,
  acknowledgeReturn,
  awaitLateSettlement,
  restartReturn,
} from "./result-return.ts";

describe("A task that a peer sent", () => {
  it("a task holds the amount that the peer will owe until it is known that nothing is owed", () => {
    expect(buildInboundTask().hold).toBe("open");
    expect(buildFinishedTask().hold).toBe("open");
    expect(buildFinishedTask("failed").hold).toBe("released");
    expect(buildFinishedTask("denied").hold).toBe("released");
  });

  it("a task that a peer sent is finished by exactly one receipt", () => {
    const again = finishInbound(
      buildFinishedTask(),
      { status: "failed", receiptHash: "cd" },
      { now: NOW, ...SCHEDULE },
    );
    expect(again).toEqual(buildFinishedTask());
  });

  it("a task expires while it runs, which releases its hold", () => {
    const task = buildInboundTask();
    expect(expireInbound(task, task.expiresAt - 1)).toBe(task);
    expect(expireInbound(task, task.expiresAt)).toMatchObject({ state: "void", hold: "released" });
    expect(expireInbound(buildFinishedTask(), task.expiresAt).state).toBe("returning");
  });

  it("a task that is not settled keeps its state and loses its hold in the end", () => {
    const task = buildFinishedTask();
    expect(expireInbound(task, task.holdUntil - 1).hold).toBe("open");
    expect(expireInbound(task, task.holdUntil)).toEqual({ ...task, hold: "released" });
    const settled = { ...task, hold: "settled" as const };
    expect(expireInbound(settled, Infinity).hold).toBe("settled");
  });

  it("the hold of a task lasts longer than its sender's settlement attempts", () => {
    const tries = SCHEDULE.pauses.reduce((sum, pause) => sum + pause, SCHEDULE.settleDownMs);
    expect(buildFinishedTask().holdUntil - NOW).toBeGreaterThan(tries);
  });
});

describe("A9: a hold that expires", () => {
  const taken = () => acknowledgeReturn(buildFinishedTask());

  it.each<[string, InboundTask, InboundTask["hold"]]>([
    ["after its result was accepted is a default", taken(), "defaulted"],
    ["before its result was accepted is released", buildFinishedTask(), "released"],
    [
      "for a result that was not completed is released",
      acknowledgeReturn(buildFinishedTask("failed")),
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
    const expired = expireInbound(buildFinishedTask(), Infinity);
    const late = awaitLateSettlement(applyAnswer(expired, buildAnswer(200)), expired, times);
    expect(late).toMatchObject({ state: "completed", hold: "due", holdUntil: NOW + 1_500 });
    const inTime = buildFinishedTask();
    const kept = awaitLateSettlement(applyAnswer(inTime, buildAnswer(200)), inTime, times);
    expect(kept).toMatchObject({ state: "completed", hold: "open" });
    const free = { ...expired, amount: asMicro(0) };
    expect(awaitLateSettlement(applyAnswer(free, buildAnswer(200)), free, times).hold).toBe(
      "released",
    );
    const cheapest = { ...expired, amount: asMicro(1) };
    expect(awaitLateSettlement(applyAnswer(cheapest, buildAnswer(200)), cheapest, times).hold).toBe(
      "due",
    );
  });

  it("an expired hold is due anew only for the answer that ended the return of a completed result", () => {
    const times = { now: NOW, holdMs: 500 };
    const expired = expireInbound(buildFinishedTask(), Infinity);
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
    const task = buildFinishedTask();
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
    const again = restartReturn(acknowledgeReturn(buildFinishedTask()), NOW + 7);
    expect(again).toMatchObject({ state: "returning", attempts: 0, dueAt: NOW + 7, hold: "open" });
    const waiting = { ...buildFinishedTask(), attempts: 4, dueAt: NOW + 9_000 };
    expect(restartReturn(waiting, NOW + 7)).toMatchObject({ attempts: 0, dueAt: NOW + 7 });
    const terms = { ...TERMS, settlementId: "s", bookedAt: NOW };
    const others: InboundTask[] = [
      buildInboundTask(),
      { ...acknowledgeReturn(buildFinishedTask()), hold: "settled", settlement: terms },
      acknowledgeReturn(buildFinishedTask("failed")),
      abandonReturn(buildFinishedTask()),
      buildFinishedTask("failed"),
    ];
    for (const task of others) expect(restartReturn(task, NOW)).toBe(task);
  });
});

it("a task that has a result is neither voided nor acknowledged after its result was abandoned", () => {
  expect(voidInbound(buildFinishedTask())).toEqual(buildFinishedTask());
  const abandoned = abandonReturn(buildFinishedTask());
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

  const unanswered = { ...buildFinishedTask(), hold: "released" } as const;
  it.each<[string, boolean, InboundTask]>([
    ["whose result the peer never answered", true, unanswered],
    ["whose late settlement is due", true, { ...unanswered, state: "completed", hold: "due" }],
    ["whose hold is open", false, buildFinishedTask()],
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
  const { expiresAt } = buildFinishedTask();
  const refuse = (task: InboundTask, sentAt: number) => {
    const ended = applyAnswer(task, buildAnswer(404), sentAt);
    return expireInbound(ended, ended.holdUntil);
  };
  const late = finishInbound(
    postponeInbound(buildInboundTask(), 900_000),
    { status: "completed", receiptHash: "0".repeat(64) },
    { now: expiresAt, holdMs: 1 },
  );

  it.each<[string, InboundTask, isRefused: boolean]>([
    ["after the end", refuse(buildFinishedTask(), expiresAt), true],
    ["in the last five minutes", refuse(buildFinishedTask(), expiresAt - 1), true],
    [
      "after the operator has cleared it",
      clearDefault(refuse(buildFinishedTask(), expiresAt)),
      false,
    ],
    ["before, which is a default", refuse(buildFinishedTask(), NOW), false],
    ["after a cleared default", clearDefault(refuse(buildFinishedTask(), NOW)), false],
    ["that failed", refuse(buildFinishedTask("failed"), expiresAt), false],
    ["that was free", refuse({ ...buildFinishedTask(), amount: asMicro(0) }, expiresAt), false],
    ["that a freeze of this relay made late", refuse(late, expiresAt), false],
    ["that is still returned", buildFinishedTask(), false],
    [
      "that has no final answer, which counts as undecided",
      expireInbound(buildFinishedTask(), buildFinishedTask().holdUntil),
      false,
    ],
    ["that was accepted", acknowledgeReturn(buildFinishedTask()), false],
  ])(
    "MN38: the amount of a result refused %s counts only if the peer may have lied",
    (_, task, isRefused) => {
      expect(getRefusedAmount(task)).toBe(isRefused ? task.amount : 0);
      expect(getRefusedAmount(clearDefault(task))).toBe(0);
    },
  );
});
