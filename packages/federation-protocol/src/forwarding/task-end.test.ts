import { describe, expect, it } from "vitest";
import { beta, gamma } from "../../test/messages.ts";
import { checkNestedReceipt, type EndedBy, canEndTask } from "./task-end.ts";

const registered: EndedBy = { kind: "receipt", isKeyRegistered: true };
const unregistered: EndedBy = { kind: "receipt", isKeyRegistered: false };
const byBeta: EndedBy = { kind: "peer", relayId: beta.id };

describe("A1: the end of a task", () => {
  const here = { peerId: null, locked: 0 };
  const paidHere = { peerId: null, locked: 1 };
  const away = { peerId: beta.id, locked: 0 };
  const paidAway = { peerId: beta.id, locked: 1 };
  it.each([
    ["a receipt under a registered key ends a free task", here, registered, true],
    ["a receipt under a registered key ends a task with a hold", paidHere, registered, true],
    ["a receipt under another key ends a free task", here, unregistered, true],
    ["a receipt under another key does not end a task with a hold", paidHere, unregistered, false],
    ["a receipt does not end a free task that a peer has", away, registered, false],
    ["a receipt does not end a paid task that a peer has", paidAway, registered, false],
    ["a receipt under another key does not end a task that a peer has", away, unregistered, false],
    ["a peer ends the free task that it has", away, byBeta, true],
    ["a peer ends the paid task that it has", paidAway, byBeta, true],
    ["a peer does not end a task that stays here", here, byBeta, false],
    ["a peer does not end a task of another peer", { ...away, peerId: gamma.id }, byBeta, false],
  ])("A1: %s", (_, task, endedBy, expected) => {
    expect(canEndTask(task, endedBy)).toBe(expected);
  });
});

describe("A1: nested receipts", () => {
  const task = {
    taskId: "task",
    submittedBy: "middle",
    executor: "worker",
    isOpen: true,
    peerId: null,
    isFromPeer: false,
  };
  const receipt = {
    taskId: "task",
    agentId: "worker",
    parentAgentId: "middle",
    areKeysRegistered: true,
  };

  it("a nested receipt settles an open task of this relay between the two agents of the hop", () => {
    expect(checkNestedReceipt(task, receipt)).toEqual({ ok: true });
  });

  it.each([
    ["a task that this relay does not have", null, {}, "nested.task_not_found"],
    ["a task that has ended", { isOpen: false }, {}, "nested.task_not_found"],
    ["another task", {}, { taskId: "other" }, "nested.task_not_found"],
    ["a task of another delegator", { submittedBy: "boss" }, {}, "nested.task_not_found"],
    ["a task that no agent submitted", { submittedBy: null }, {}, "nested.task_not_found"],
    ["a task of another executor", { executor: "other" }, {}, "nested.task_not_found"],
    ["a task that a peer has", { peerId: beta.id }, {}, "nested.task_with_peer"],
    [
      "a task that a peer forwarded",
      { isFromPeer: true, submittedBy: `relay:${beta.id}` },
      {},
      "nested.task_with_peer",
    ],
    [
      "a task under a chain with a key that is not registered",
      {},
      { areKeysRegistered: false },
      "nested.key_missing",
    ],
  ])("a nested receipt does not settle %s", (_, change, signed, code) => {
    const named = change === null ? null : { ...task, ...change };
    expect(checkNestedReceipt(named, { ...receipt, ...signed })).toEqual({ ok: false, code });
  });
});
