import { describe, expect, it } from "vitest";
import { beta, gamma, NOW, SCHEDULE, buildOutboundTask } from "../../test/messages.ts";
import type { Delivery } from "../delivery/delivery.ts";
import {
  beginForward,
  completeRelayed,
  endForward,
  expireOutbound,
  isForwardDue,
  isOutboundOpen,
  checkResultState,
  type OutboundState,
  type OutboundTask,
  getPayable,
  postponeOutbound,
  releasePayable,
  applyResult,
} from "./outbound-task.ts";
import { requestCancel } from "./task-cancel.ts";

const answered = (status: number): Delivery => ({ kind: "answered", status });
const idTaken: Delivery = { kind: "answered", status: 409, code: "forward.id_taken" };
const unknown: Delivery = { kind: "unknown" };
const unreachable: Delivery = { kind: "unreachable" };
const completed = { status: "completed", receiptHash: "ab" } as const;

/** Returns a task after attempts with these ends. */
function attempted(...deliveries: readonly Delivery[]) {
  return deliveries.reduce((task, delivery) => {
    return endForward(beginForward(task, SCHEDULE, NOW), task, delivery);
  }, buildOutboundTask());
}

describe("A task that is sent to a peer", () => {
  it.each<[string, readonly Delivery[], OutboundState]>([
    ["an accepted forward", [answered(202)], "forwarded"],
    ["a known task id", [answered(409)], "forwarded"],
    ["a refusal", [answered(402)], "refused"],
    ["no connection", [unreachable], "refused"],
    ["overload", [answered(503)], "refused"],
    ["a lost answer", [unknown], "forwarding"],
    ["a failure of the peer", [answered(500)], "forwarding"],
    ["a lost answer and a known id", [unknown, answered(409)], "forwarded"],
    [
      "a lost answer and a refusal, because the first copy may still be accepted,",
      [unknown, answered(402)],
      "forwarding",
    ],
    ["a lost answer and no connection", [unknown, unreachable], "forwarding"],
    ["an id that another party has taken at the peer", [idTaken], "refused"],
    ["a lost answer and an id that another party has taken", [unknown, idTaken], "refused"],
    [
      "an id that another party has taken after it was known",
      [answered(409), idTaken],
      "forwarded",
    ],
  ])("a task that is sent to a peer has the specified state after %s", (_, deliveries, state) => {
    expect(attempted(...deliveries).state).toBe(state);
  });

  it("a task is sent again while its outcome is unknown, after 30 s, 2 min, 8 min, 32 min and 2 h", () => {
    let task = buildOutboundTask({ expiresAt: Infinity });
    const pauses: (number | null)[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      task = endForward(beginForward(task, SCHEDULE, 0), task, unknown);
      pauses.push(task.dueAt);
    }
    expect(pauses).toEqual([30_000, 120_000, 480_000, 1_920_000, 7_200_000, null]);
    expect(isForwardDue(task, Infinity)).toBe(false);
  });

  it("a task that is sent to a peer is sent neither before its time nor after its end", () => {
    const task = attempted(unknown);
    expect([NOW, NOW + 29_999, NOW + 30_000].map((now) => isForwardDue(task, now))).toEqual([
      false,
      false,
      true,
    ]);
    expect(isForwardDue({ ...task, expiresAt: NOW + 30_000 }, NOW + 30_000)).toBe(false);
  });

  it("a task that is sent to a peer is not sent again once its submitter wants to cancel it", () => {
    const task = requestCancel(attempted(unknown), NOW + 1);
    expect(isForwardDue(task, NOW + 30_000)).toBe(false);
  });

  it("a task counts as one that may have arrived after a crash during an attempt", () => {
    const begun = beginForward(buildOutboundTask(), SCHEDULE, NOW);
    expect(endForward(beginForward(begun, SCHEDULE, NOW), begun, unreachable).state).toBe(
      "forwarding",
    );
  });

  it.each<[string, Delivery, OutboundState]>([
    ["a refusal, because the second may still be accepted,", answered(402), "forwarding"],
    ["no connection", unreachable, "forwarding"],
    ["an id that another party has taken", idTaken, "refused"],
    ["an acceptance", answered(202), "forwarded"],
  ])(
    "a task has the specified state if its first attempt ends during the second by %s",
    (_, delivery, state) => {
      const first = buildOutboundTask();
      const second = beginForward(beginForward(first, SCHEDULE, NOW), SCHEDULE, NOW);
      expect(endForward(second, first, delivery).state).toBe(state);
    },
  );

  it.each([answered(202), answered(402), idTaken, unreachable])(
    "a task that has gone to another peer is not changed by the late answer %o of the previous one",
    (delivery) => {
      const task = beginForward(buildOutboundTask({ peerId: "next" }), SCHEDULE, NOW);
      expect(endForward(task, buildOutboundTask(), delivery)).toBe(task);
    },
  );

  it("a task that is sent to a peer is not changed by a late answer", () => {
    const done = applyResult(buildOutboundTask(), completed, { relayed: false });
    expect(endForward(done, buildOutboundTask(), answered(404))).toBe(done);
  });

  it.each([
    ["forwarding", "void"],
    ["forwarded", "void"],
    ["relaying", "relaying"],
    ["completed", "completed"],
  ] as const)("a sent task in the state %s becomes %s at its expiry", (state, after) => {
    const task = buildOutboundTask({ state });
    expect(expireOutbound(task, task.expiresAt).state).toBe(after);
    expect(expireOutbound(task, task.expiresAt - 1).state).toBe(state);
  });

  it.each<[string, Partial<OutboundTask>, number]>([
    ["is being forwarded", { state: "forwarding" }, 950_000],
    ["is forwarded", { state: "forwarded" }, 950_000],
    ["is completed and being returned", { state: "relaying", receiptStatus: "completed" }, 950_000],
    [
      "is completed here and not yet settled by the previous relay",
      { state: "completed", awaitsSettlement: true },
      950_000,
    ],
    ["failed and is being returned", { state: "relaying", receiptStatus: "failed" }, 0],
    ["was denied and is being returned", { state: "relaying", receiptStatus: "denied" }, 0],
    ["was refused", { state: "refused" }, 0],
    ["is completed", { state: "completed", receiptStatus: "completed" }, 0],
    ["failed", { state: "failed", receiptStatus: "failed" }, 0],
    ["is void", { state: "void" }, 0],
  ])("A2: a sent task that %s may add a fixed amount to the debt", (_, change, expected) => {
    expect(getPayable(buildOutboundTask(change))).toBe(expected);
  });

  it.each([
    [true, "completed", 950_000],
    [true, "failed", 0],
    [false, "completed", 0],
  ] as const)(
    "A2: a sent task whose relayed result is accepted (%s) as %s adds %d until its settlement or expiry",
    (accepted, status, expected) => {
      const relaying = applyResult(
        buildOutboundTask(),
        { ...completed, status },
        { relayed: true },
      );
      const concluded = completeRelayed(relaying, accepted);
      expect(getPayable(concluded)).toBe(expected);
      const over = releasePayable(concluded);
      expect(getPayable(over)).toBe(0);
      expect(over.state).toBe(concluded.state);
      expect(releasePayable(over)).toBe(over);
    },
  );
});

it.each<[OutboundState, number]>([
  ["forwarding", 5],
  ["forwarded", 5],
  ["relaying", 0],
  ["completed", 0],
  ["refused", 0],
  ["void", 0],
])(
  "A8: a sent task that is %s when its relay was frozen for 5 ms ends %d ms later",
  (state, later) => {
    const task = buildOutboundTask({ state });
    expect(postponeOutbound(task, 5)).toEqual({ ...task, expiresAt: task.expiresAt + later });
  },
);

it("A2: a sent task whose hold expired before its relayed result was accepted adds nothing", () => {
  const relaying = applyResult(buildOutboundTask(), completed, { relayed: true });
  const released = releasePayable(relaying);
  expect([getPayable(relaying), getPayable(released)]).toEqual([950_000, 0]);
  expect(released.state).toBe("relaying");
  const accepted = completeRelayed(released, true);
  expect(accepted.state).toBe("completed");
  expect(getPayable(accepted)).toBe(0);
});

describe("A result", () => {
  const from = beta.id;
  const check = (task: Parameters<typeof checkResultState>[0], change: object = {}) =>
    checkResultState(task, { from, receiptHash: "ab", now: NOW, ...change });

  it.each<OutboundState>(["forwarding", "forwarded"])(
    "a result is accepted while the task is %s",
    (state) => {
      expect(check(buildOutboundTask({ state }))).toMatchObject({ ok: true, repeated: false });
    },
  );

  it("a result with the same receipt is a repetition, also after the task's end", () => {
    const task = applyResult(buildOutboundTask(), completed, { relayed: false });
    expect(task.state).toBe("completed");
    expect(check(task, { now: Infinity })).toEqual({ ok: true, repeated: true, task });
  });

  it.each([
    ["for a task that was never sent", null, {}, "result.task_not_found"],
    [
      "of a peer to which the task was not sent",
      buildOutboundTask(),
      { from: gamma.id },
      "result.wrong_peer",
    ],
    [
      "of another peer, again",
      buildOutboundTask({ receiptHash: "ab" }),
      { from: gamma.id },
      "result.wrong_peer",
    ],
    ["after the task's end", buildOutboundTask(), { now: NOW + 900_000 }, "result.task_not_found"],
    [
      "for a void task",
      buildOutboundTask({ state: "void", receiptHash: "ab" }),
      {},
      "result.task_not_found",
    ],
    [
      "for a task that another executor got",
      buildOutboundTask({ state: "refused" }),
      {},
      "result.task_not_found",
    ],
    [
      "with another receipt",
      buildOutboundTask({ receiptHash: "cd" }),
      {},
      "result.already_finished",
    ],
  ])("a result is refused %s", (_, task, change, code) => {
    expect(check(task, change)).toEqual({ ok: false, code });
  });

  it.each([
    [true, "completed"],
    [false, "void"],
  ])(
    "a result that an intermediate relay returned, accepted there: %s, becomes %s",
    (accepted, state) => {
      const relaying = applyResult(buildOutboundTask(), completed, { relayed: true });
      expect(relaying.state).toBe("relaying");
      const concluded = completeRelayed(relaying, accepted);
      expect(concluded.state).toBe(state);
      expect(completeRelayed(concluded, !accepted)).toBe(concluded);
    },
  );
});

it.each<[OutboundState, boolean]>([
  ["forwarding", true],
  ["forwarded", true],
  ["relaying", true],
  ["refused", false],
  ["completed", false],
  ["failed", false],
  ["denied", false],
  ["void", false],
])("a task that is %s may still move money: %s", (state, expected) => {
  expect(isOutboundOpen({ state })).toBe(expected);
});
