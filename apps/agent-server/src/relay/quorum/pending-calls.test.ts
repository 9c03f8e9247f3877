import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../../caller.ts";
import { getPlaceHolder } from "../../policy/place-holder.ts";
import {
  createPendingCalls,
  MAX_QUORUM_PLACES_PER_CALLER,
  QUORUM_PLACES,
} from "./pending-calls.ts";
import type { QuorumRequest } from "./quorum-requests.ts";

const relay: Caller = { kind: "relay", relayId: "r" };
const stranger = (agentId: string): Caller => ({ kind: "agent", agentId, trust: "unknown" });

function newPendingCalls() {
  const requests = new Map<string, QuorumRequest>();
  const pending = createPendingCalls(
    {
      [Symbol.iterator]: () => requests.entries(),
      get: (name) => requests.get(name),
      add: async (name, entry) => void requests.set(name, entry),
      delete: async (name) => requests.delete(name),
    },
    { now: () => 0, randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
  );
  const callOf = (caller: Caller, argsHash: string) => ({
    tool: "deploy",
    risk: 3,
    holder: getPlaceHolder(caller),
    args: {},
    argsHash,
  });
  /** Adds calls of a caller, and returns how many of them got a place. */
  async function add(caller: Caller, count: number): Promise<number> {
    let added = 0;
    for (let index = 0; index < count; index += 1) {
      const entry = await pending.getOrAdd(callOf(caller, `${requests.size}`));
      if (entry !== undefined) added += 1;
    }
    return added;
  }
  return { pending, requests, callOf, add };
}

describe("the calls that wait for a quorum", () => {
  test("the calls of all groups that wait for a quorum stay below what the relay lets one agent have waiting", () => {
    const sum = Object.values(QUORUM_PLACES).reduce((total, places) => total + places, 0);
    expect(sum).toBeLessThan(limits.pendingApprovals);
  });

  test.each([
    ["the owner", owner, QUORUM_PLACES.owner],
    ["the relay, for tasks without a submitter,", relay, QUORUM_PLACES.relay],
    ["one stranger", stranger("a"), MAX_QUORUM_PLACES_PER_CALLER],
  ])("%s has as many calls waiting for a quorum as its limit says", async (_, caller, most) => {
    const { add } = newPendingCalls();
    expect(await add(caller, most + 5)).toBe(most);
  });

  test("two strangers do not fill the places of all strangers for a quorum", async () => {
    const { add } = newPendingCalls();
    for (const name of ["a", "b"]) await add(stranger(name), QUORUM_PLACES.unknown);
    expect(await add(stranger("honest"), 1)).toBe(1);
  });
});
