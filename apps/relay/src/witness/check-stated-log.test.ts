import { expect, test } from "vitest";
import { checkStatedLog } from "./check-stated-log.ts";

const HOUR_MS = 3_600_000;
const stated = { relayId: "r", origin: "agent-relay/r", vkey: "k", now: 10 * HOUR_MS };
const none = { sameOrigin: undefined, generations: [] };
const first = [{ origin: "agent-relay/r", pinned_at: 0 }];
const second = [...first, { origin: "agent-relay/r/1790000000", pinned_at: 9 * HOUR_MS }];

test.each([
  ["a first log", {}, none, "pin"],
  ["a log with a name of its own", { origin: "log.example" }, none, "pin"],
  [
    "the same again",
    {},
    { sameOrigin: { vkey: "k", relay_id: "r", isOfPeer: true }, generations: first },
    "known",
  ],
  [
    "a log that the operator has named and the relay does not have yet",
    { origin: "log.example", named: "k" },
    none,
    "pin",
  ],
  [
    "a log that the operator has named with another key",
    { origin: "log.example", named: "other" },
    none,
    "log.key_changed",
  ],
  [
    "a log that only the operator has named",
    { named: "k" },
    { sameOrigin: { vkey: "k", relay_id: null, isOfPeer: false }, generations: [] },
    "new_owner",
  ],
  [
    "a log that another peer states under the same key",
    { origin: "log.example" },
    { sameOrigin: { vkey: "k", relay_id: "x", isOfPeer: true }, generations: [] },
    "of_other_peer",
  ],
  [
    "a log that a removed peer stated under the same key",
    { origin: "log.example" },
    { sameOrigin: { vkey: "k", relay_id: "x", isOfPeer: false }, generations: [] },
    "new_owner",
  ],
  [
    "a log with its id that another peer stated under the same key",
    {},
    { sameOrigin: { vkey: "k", relay_id: "x", isOfPeer: true }, generations: [] },
    "new_owner",
  ],
  [
    "the known log of another relay under the same key",
    { origin: "agent-relay/x" },
    { sameOrigin: { vkey: "k", relay_id: "x", isOfPeer: true }, generations: [] },
    "log.key_changed",
  ],
  [
    "another key of its origin",
    { vkey: "other" },
    { sameOrigin: { vkey: "k", relay_id: "r", isOfPeer: true }, generations: first },
    "log.key_changed",
  ],
  ["the origin of another relay", { origin: "agent-relay/x" }, none, "log.key_changed"],
  ["a generation of another relay", { origin: "agent-relay/x/5" }, none, "log.key_changed"],
  [
    "a second log",
    { origin: "log.example" },
    { sameOrigin: undefined, generations: first },
    "log.key_changed",
  ],
  [
    "a further generation",
    { origin: "agent-relay/r/1790000000" },
    { sameOrigin: undefined, generations: first },
    "pin",
  ],
  [
    "a further generation after an hour",
    { origin: "agent-relay/r/1790000001" },
    { sameOrigin: undefined, generations: second },
    "pin",
  ],
  [
    "a further generation within the hour",
    { origin: "agent-relay/r/1790000001", now: 10 * HOUR_MS - 1 },
    { sameOrigin: undefined, generations: second },
    "too_soon",
  ],
  [
    "an earlier generation",
    { origin: "agent-relay/r/1789999999" },
    { sameOrigin: undefined, generations: second },
    "log.key_changed",
  ],
] as const)("the check of a stated log decides on %s of a relay", (_, change, known, result) => {
  expect(checkStatedLog({ ...stated, ...change }, known)).toBe(result);
});
