import type { TaskStatus } from "@agent/wire";
import { describe, expect, test } from "vitest";
import {
  endpointClaimRef,
  hasBegun,
  isClaimedByEndpoint,
  isExpired,
  isOpen,
  isParticipant,
  isShutOut,
} from "./task.ts";

const [payer, target, chosen] = ["payer", "target", "chosen"];
const caller = (agentId: string) => ({ kind: "agent", agentId }) as never;
const task = (
  status: TaskStatus,
  assigned_to: string | null = null,
  via_peer: string | null = null,
) => ({
  submitted_by: payer,
  agent_id: target,
  assigned_to,
  via_peer,
  status,
});
const blocking = (...ids: string[]) => ({
  isBlocked: (by: string | null, id: string) => by === payer && ids.includes(id),
});

describe("what a task shows about the work of an agent", () => {
  test.each<[TaskStatus, string | null, string, boolean]>([
    ["pending", null, target, false],
    ["pending", chosen, chosen, false],
    ["claimed", null, target, true],
    ["claimed", chosen, chosen, true],
    ["claimed", chosen, target, false],
    ["completed", null, target, true],
    ["failed", chosen, chosen, true],
    ["denied", chosen, chosen, true],
    ["completed", chosen, target, false],
    ["cancelled", null, target, false],
    ["cancelled", chosen, chosen, false],
  ])(
    "D24: of a task that is %s and assigned to %s, %s has begun: %s",
    (status, assigned, agentId, begun) => {
      expect(hasBegun(task(status, assigned), agentId)).toBe(begun);
      expect(isShutOut(task(status, assigned), agentId, blocking(agentId))).toBe(!begun);
      expect(isShutOut(task(status, assigned), agentId, blocking())).toBe(false);
    },
  );

  test("D24: a block excludes only the blocked agent from a task, and never its submitter", () => {
    const of = (agentId: string, ...blocked: string[]) =>
      isParticipant(caller(agentId), task("pending", chosen), blocking(...blocked));
    expect([of(target, target), of(chosen, target), of(payer, target, payer)]).toEqual([
      false,
      true,
      true,
    ]);
    expect([of(target, chosen), of(chosen, chosen)]).toEqual([true, false]);
  });
});

test.each<[TaskStatus, isUnfinished: boolean]>([
  ["pending", true],
  ["claimed", true],
  ["completed", false],
  ["failed", false],
  ["denied", false],
  ["cancelled", false],
])(
  "a task that is %s is open before its expiry, and expired from then on: %s",
  (status, expected) => {
    const row = { status, expires_at: 1_000 };
    expect([isOpen(row, 999), isExpired(row, 999)]).toEqual([expected, false]);
    expect([isOpen(row, 1_000), isExpired(row, 1_000)]).toEqual([false, expected]);
  },
);

test("a task is claimed by an endpoint only while that is called, and not by a device", () => {
  const claims = [endpointClaimRef("call"), "device", "an endpoint ", null];
  expect(claims.map((claimed_by) => isClaimedByEndpoint({ claimed_by }))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
