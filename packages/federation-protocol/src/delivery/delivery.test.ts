import { expect, it } from "vitest";
import { classifyDelivery } from "./delivery.ts";
import { REFUSAL_STATUS } from "../refusal-status.ts";

it.each([
  [200, "accepted"],
  [201, "accepted"],
  [202, "pending"],
  [299, "accepted"],
  [300, "unknown"],
  [400, "refused"],
  [401, "later"],
  [402, "refused"],
  [403, "later"],
  [404, "refused"],
  [408, "later"],
  [409, "duplicate"],
  [410, "refused"],
  [418, "unknown"],
  [422, "refused"],
  [429, "later"],
  [500, "unknown"],
  [502, "unknown"],
  [503, "later"],
  [504, "unknown"],
] as const)("classifies an answer of %s as %s", (status, meaning) => {
  expect(classifyDelivery({ kind: "answered", status })).toBe(meaning);
});

it("classifies a lost answer as unknown and a failed connection as later", () => {
  expect(classifyDelivery({ kind: "unknown" })).toBe("unknown");
  expect(classifyDelivery({ kind: "unreachable" })).toBe("later");
});

it("retries later if the receiver's federation is off", () => {
  expect(classifyDelivery({ kind: "answered", status: 404, code: "route.not_found" })).toBe(
    "later",
  );
});

it.each(Object.entries(REFUSAL_STATUS).filter(([code]) => code.startsWith("result.")))(
  "does not send a result again that is refused with %s",
  (code, status) => {
    expect(["refused", "duplicate"]).toContain(
      classifyDelivery({ kind: "answered", status, code }),
    );
  },
);
