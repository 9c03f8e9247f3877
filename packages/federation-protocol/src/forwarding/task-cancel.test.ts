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

describe("B2: a relay that is asked to cancel a task", () => {
  test.each([
    ["finds one that runs", buildInboundTask(), {}, "running"],
    [
      "finds one that was cancelled or expired",
      buildInboundTask({ state: "void" }),
      {},
      "cancelled",
    ],
    ["knows of none", null, {}, "cancel.task_not_found"],
    ["took it from another peer", buildInboundTask({ peerId: gamma.id }), {}, "cancel.wrong_peer"],
    [
      "is asked in another relay's name",
      buildInboundTask(),
      { origin: gamma.id },
      "federation.wrong_sender",
    ],
    [
      "has its receipt",
      buildInboundTask({ state: "returning", receiptHash: "ab", receiptStatus: "completed" }),
      {},
      "cancel.already_finished",
    ],
    [
      "had its receipt, which came to nothing",
      buildInboundTask({ state: "void", receiptHash: "ab", receiptStatus: "completed" }),
      {},
      "cancel.already_finished",
    ],
  ] as const)("B2: %s", (_, task, change, found) => {
    const checked = checkCancel(task, { ...asked, ...change });
    expect(checked.ok ? checked.state : checked.code).toBe(found);
  });
});

const answerOf = (status: "cancelled" | "pending", by = beta) =>
  signCancelAnswer({ status, taskId: TASK, relayId: by.id }, { secretKey: by.secretKey, now: NOW });
const context = { task: buildOutboundTask({ state: "forwarded" }), publicKey: beta.publicKey };

describe("B2: the answer of the asked relay", () => {
  test.each([
    ["its signed yes", 200, answerOf("cancelled"), "cancelled"],
    ["its signed not yet", 202, answerOf("pending"), "pending"],
    [
      "an unsigned yes",
      200,
      { ...answerOf("cancelled"), signature: answerOf("pending").signature },
      "pending",
    ],
    ["a yes by another relay", 200, answerOf("cancelled", gamma), "pending"],
    [
      "a yes by another key",
      200,
      {
        ...signJson({ ...answerOf("cancelled"), signature: undefined } as object, gamma.secretKey),
      },
      "pending",
    ],
    [
      "a yes about another task",
      200,
      signCancelAnswer(
        { status: "cancelled", taskId: "other", relayId: beta.id },
        { secretKey: beta.secretKey, now: NOW },
      ),
      "pending",
    ],
    ["no answer", 0, undefined, "pending"],
    ["a failure", 500, {}, "pending"],
    ["overload", 429, {}, "pending"],
  ] as const)("B2: %s counts as %s", (_, status, body, meaning) => {
    expect(parseCancelAnswer({ status, body }, context)).toBe(meaning);
  });

  test.each(["cancel.already_finished", "route.not_found"])("B2: %s ends the asking", (code) => {
    expect(parseCancelAnswer({ status: 404, code, body: {} }, context)).toBe("never");
  });
});

describe("B2: the relay that asks", () => {
  test("B2: asks at once, then after pauses that grow to 5 minutes, and stops at expiry", () => {
    let task = requestCancel(buildOutboundTask({ state: "forwarded" }), NOW);
    const asks: number[] = [];
    for (let now = NOW; now < NOW + 1_000_000; now += 1_000) {
      if (!isCancelDue(task, now)) continue;
      asks.push((now - NOW) / 1_000);
      task = endCancel(beginCancel(task, now), "pending");
    }
    expect(asks).toEqual([0, 15, 30, 60, 120, 240, 480, 780]);
  });

  test("B2: asks nothing about a task that is with no peer, and begins no new row of questions", () => {
    const refused = buildOutboundTask({ state: "refused" });
    expect(requestCancel(refused, NOW)).toBe(refused);
    const once = requestCancel(buildOutboundTask(), NOW);
    expect(requestCancel(once, NOW + 5)).toBe(once);
    expect(isCancelDue(buildOutboundTask(), NOW)).toBe(false);
  });

  test.each(["cancelled", "never"] as const)("B2: asks no more after %s", (meaning) => {
    const task = endCancel(requestCancel(buildOutboundTask(), NOW), meaning);
    expect(isCancelDue(task, NOW + 600_000)).toBe(false);
  });
});
