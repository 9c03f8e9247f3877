import { expect, test } from "vitest";
import { describeCircuit } from "./describe-circuit.ts";

test.each([
  ["active", undefined, "no task was forwarded recently"],
  ["active", { latest: 0, failed: 0 }, "no task was forwarded recently"],
  ["active", { latest: 1, failed: 0 }, "closed: 0 of the latest 1 forwarded task failed"],
  ["active", { latest: 5, failed: 5 }, "closed: 5 of the latest 5 forwarded tasks failed"],
  [
    "suspended",
    { latest: 6, failed: 6 },
    "open until its next heartbeat: 6 of the latest 6 forwarded tasks failed",
  ],
  // Suspended because of missed heartbeats.
  ["suspended", { latest: 8, failed: 2 }, "closed: 2 of the latest 8 forwarded tasks failed"],
])(
  "the circuit of a peer that is %s with forwards %j is described",
  (state, forwards, sentence) => {
    expect(describeCircuit({ state, forwards })).toBe(sentence);
  },
);
