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
] as const)("An answer of %s means: %s", (status, meaning) => {
  expect(classifyDelivery({ kind: "answered", status })).toBe(meaning);
});

it("A lost answer is unknown, and a connection that never stood can be tried later", () => {
  expect(classifyDelivery({ kind: "unknown" })).toBe("unknown");
  expect(classifyDelivery({ kind: "unreachable" })).toBe("later");
});

it("A relay whose federation is off has not looked at what was sent", () => {
  expect(classifyDelivery({ kind: "answered", status: 404, code: "route.not_found" })).toBe(
    "later",
  );
});

it.each(Object.entries(REFUSAL_STATUS).filter(([code]) => code.startsWith("result.")))(
  "A result refused with %s is not sent again",
  (code, status) => {
    expect(["refused", "duplicate"]).toContain(
      classifyDelivery({ kind: "answered", status, code }),
    );
  },
);
