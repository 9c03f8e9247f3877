import { errors } from "@agent/wire";
import { expect, it } from "vitest";
import {
  classifyDelivery,
  getNextAttemptTime,
  isDeferred,
  isIdTaken,
  isPeerFrozen,
  type Delivery,
} from "./delivery.ts";

it.each([
  [200, "accepted"],
  [201, "accepted"],
  [202, "pending"],
  [299, "accepted"],
  [300, "unknown"],
  [401, "later"],
  [403, "later"],
  [408, "later"],
  [409, "duplicate"],
  [418, "unknown"],
  [429, "later"],
  [500, "unknown"],
  [502, "unknown"],
  [503, "later"],
  [504, "unknown"],
] as const)("an answer of %s is classified as %s", (status, meaning) => {
  expect(classifyDelivery({ kind: "answered", status })).toBe(meaning);
});

it.each([400, 402, 404, 410, 413, 415, 422])(
  "a refusal with %i is final with a code of the protocol, and not if a proxy made it",
  (status) => {
    const refusal = { kind: "answered", status } as const;
    expect(classifyDelivery({ ...refusal, code: "request.invalid" })).toBe("refused");
    expect(classifyDelivery(refusal)).toBe("later");
  },
);

it('a lost answer is classified as "unknown", and a failed connection as "later"', () => {
  expect(classifyDelivery({ kind: "unknown" })).toBe("unknown");
  expect(classifyDelivery({ kind: "unreachable" })).toBe("later");
});

it("a message is sent again later if the receiver's federation is off", () => {
  expect(classifyDelivery({ kind: "answered", status: 404, code: "route.not_found" })).toBe(
    "later",
  );
});

it.each(Object.entries(errors).filter(([code]) => code.startsWith("result.")))(
  "a result that is refused with %s is not sent again",
  (code, { status }) => {
    expect(["refused", "duplicate"]).toContain(
      classifyDelivery({ kind: "answered", status, code }),
    );
  },
);

it.each<[Delivery, boolean]>([
  [{ kind: "answered", status: 429 }, true],
  [{ kind: "answered", status: 503 }, true],
  [{ kind: "answered", status: 503, code: "server.frozen" }, true],
  [{ kind: "answered", status: 200 }, false],
  [{ kind: "answered", status: 403 }, false],
  [{ kind: "answered", status: 500 }, false],
  [{ kind: "unreachable" }, false],
  [{ kind: "unknown" }, false],
])("the delivery %o counts as one that the peer deferred: %s", (delivery, expected) => {
  expect(isDeferred(delivery)).toBe(expected);
});

it.each<[string, retryAfterMs: number | undefined, expected: number]>([
  ["no pause", undefined, 1_500],
  ["a shorter pause than the schedule", 499, 1_500],
  ["a longer pause than the schedule", 900, 1_900],
  ["a longer pause than any of the schedule", 86_400_000, 1_000 + 2_000],
])("the next attempt is made in time after an answer that asks for %s", (_, retryAfterMs, at) => {
  const delivery: Delivery = { kind: "answered", status: 429, retryAfterMs };
  expect(getNextAttemptTime(1_500, delivery, { pauses: [500, 2_000], now: 1_000 })).toBe(at);
});

it.each<[string, boolean, Delivery]>([
  ["frozen, as it says", true, { kind: "answered", status: 503, code: "server.frozen" }],
  ["draining", false, { kind: "answered", status: 503, code: "server.draining" }],
  ["behind a proxy that is busy", false, { kind: "answered", status: 503 }],
  [
    "frozen by a code without its status",
    false,
    { kind: "answered", status: 200, code: "server.frozen" },
  ],
  ["out of reach", false, { kind: "unreachable" }],
  ["silent", false, { kind: "unknown" }],
])(
  "an attempt is known to have changed nothing at a peer that is %s: %s",
  (_, expected, delivery) => {
    expect(isPeerFrozen(delivery)).toBe(expected);
  },
);

it.each<[string, boolean, Delivery]>([
  ["with its code", true, { kind: "answered", status: 409, code: "forward.id_taken" }],
  ["with another code", false, { kind: "answered", status: 409, code: "forward.duplicate" }],
  ["by another status", false, { kind: "answered", status: 404, code: "forward.id_taken" }],
  ["in a lost answer", false, { kind: "unknown" }],
])(
  "the id of a task belongs to another party if the peer states it %s: %s",
  (_, expected, delivery) => {
    expect(isIdTaken(delivery)).toBe(expected);
  },
);
