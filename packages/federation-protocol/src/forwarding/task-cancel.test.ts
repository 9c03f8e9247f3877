import { signJson } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import {
  alpha,
  beta,
  gamma,
  NOW,
  buildOutboundTask,
  TASK,
  buildInboundTask,
} from "../../test/messages.ts";
import {
  beginCancel,
  checkCancel,
  endCancel,
  isCancelDue,
  parseCancelAnswer,
  requestCancel,
  signCancelAnswer,
} from "./task-cancel.ts";

const asked = { from: alpha.id, origin: alpha.id };

describe("cancellation at the receiver", () => {
  test.each([
    ["finds a running task", buildInboundTask(), {}, "running"],
    [
      "finds a task that was cancelled or expired",
      buildInboundTask({ state: "void" }),
      {},
      "cancelled",
    ],
    ["knows no such task", null, {}, "cancel.task_not_found"],
    [
      "received the task from another peer",
      buildInboundTask({ peerId: gamma.id }),
      {},
      "cancel.wrong_peer",
    ],
    [
      "is asked in another relay's name",
      buildInboundTask(),
      { origin: gamma.id },
      "federation.wrong_sender",
    ],
    [
      "has the task's receipt",
      buildInboundTask({ state: "returning", receiptHash: "ab", receiptStatus: "completed" }),
      {},
      "cancel.already_finished",
    ],
    [
      "had the task's receipt, whose result was abandoned",
      buildInboundTask({ state: "void", receiptHash: "ab", receiptStatus: "completed" }),
      {},
      "cancel.already_finished",
    ],
  ] as const)(
    "B2: a relay that is asked for a cancellation answers as specified if it %s",
    (_, task, change, found) => {
      const checked = checkCancel(task, { ...asked, ...change });
      expect(checked.ok ? checked.state : checked.code).toBe(found);
    },
  );
});

const answerOf = (status: "cancelled" | "pending", by = beta) =>
  signCancelAnswer({ status, taskId: TASK, relayId: by.id }, { secretKey: by.secretKey, now: NOW });
const context = { task: buildOutboundTask({ state: "forwarded" }), publicKey: beta.publicKey };

describe("the answer to a cancellation", () => {
  test.each([
    ["a signed agreement", 200, answerOf("cancelled"), "cancelled"],
    ["a signed postponement", 202, answerOf("pending"), "pending"],
    [
      "an unsigned agreement",
      200,
      { ...answerOf("cancelled"), signature: answerOf("pending").signature },
      "pending",
    ],
    ["an agreement by another relay", 200, answerOf("cancelled", gamma), "pending"],
    [
      "an agreement under another key",
      200,
      {
        ...signJson({ ...answerOf("cancelled"), signature: undefined } as object, gamma.secretKey),
      },
      "pending",
    ],
    [
      "an agreement about another task",
      200,
      signCancelAnswer(
        { status: "cancelled", taskId: "other", relayId: beta.id },
        { secretKey: beta.secretKey, now: NOW },
      ),
      "pending",
    ],
    [
      "an agreement in the name of another relay",
      200,
      signCancelAnswer(
        { status: "cancelled", taskId: TASK, relayId: gamma.id },
        { secretKey: beta.secretKey, now: NOW },
      ),
      "pending",
    ],
    [
      "an agreement of another suite",
      200,
      signJson({ ...answerOf("cancelled"), suite: "other" }, beta.secretKey),
      "pending",
    ],
    ["an agreement in a redirection", 300, answerOf("cancelled"), "pending"],
    ["no answer", 0, undefined, "pending"],
    ["a failure", 500, {}, "pending"],
    ["overload", 429, {}, "pending"],
  ] as const)("B2: %s to a cancellation counts as %s", (_, status, body, meaning) => {
    expect(parseCancelAnswer({ status, body }, context)).toBe(meaning);
  });

  test.each(["cancel.already_finished", "route.not_found"])(
    "B2: %s ends the requests for a cancellation",
    (code) => {
      expect(parseCancelAnswer({ status: 404, code, body: {} }, context)).toBe("never");
    },
  );
});

test.each([
  ["forwarding", "cancelled"],
  ["forwarded", "pending"],
] as const)(
  "FE29: the id of another party, of a task that is %s, counts as %s",
  (state, meaning) => {
    const answer = { status: 403, code: "cancel.wrong_peer", body: {} };
    const task = buildOutboundTask({ state });
    expect(parseCancelAnswer(answer, { ...context, task })).toBe(meaning);
  },
);

test.each([403, 404, 429, 500])(
  "a task that may have arrived is not cancelled by a refusal with %i of any other reason",
  (status) => {
    const answer = { status, code: "cancel.task_not_found", body: {} };
    const task = buildOutboundTask({ state: "forwarding" });
    expect(parseCancelAnswer(answer, { ...context, task })).toBe("pending");
  },
);

describe("the relay that asks for a cancellation", () => {
  test("B2: a cancellation is requested at once, then after pauses of up to 5 minutes, until expiry", () => {
    let task = requestCancel(buildOutboundTask({ state: "forwarded" }), NOW);
    const asks: number[] = [];
    for (let now = NOW; now < NOW + 2_000_000; now += 1_000) {
      if (!isCancelDue(task, now)) continue;
      asks.push((now - NOW) / 1_000);
      task = endCancel(beginCancel(task, now), "pending");
    }
    expect(asks).toEqual([0, 15, 30, 60, 120, 240, 480, 780]);
  });

  test("B2: no cancellation is requested for a task that no peer has, and none is requested twice", () => {
    const refused = buildOutboundTask({ state: "refused" });
    expect(requestCancel(refused, NOW)).toBe(refused);
    const once = requestCancel(buildOutboundTask(), NOW);
    expect(requestCancel(once, NOW + 5)).toBe(once);
    expect(isCancelDue(buildOutboundTask(), NOW)).toBe(false);
  });

  test.each(["cancelled", "never"] as const)(
    "B2: a cancellation is not requested again after %s",
    (meaning) => {
      const task = endCancel(requestCancel(buildOutboundTask(), NOW), meaning);
      expect(isCancelDue(task, NOW + 600_000)).toBe(false);
    },
  );
});
