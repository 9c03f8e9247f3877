import { describe, expect, test } from "vitest";
import { getOperatorLevel, isAudited } from "./operator-level.ts";

describe("the level that a console session needs", () => {
  test.each([
    ["GET", "bearer", undefined, "view"],
    ["GET", "master", undefined, "view"],
    ["POST", "master", undefined, "operate"],
    ["DELETE", "master", undefined, "operate"],
    ["POST", "bearer", undefined, "never"],
    ["DELETE", "bearer", "operate", "operate"],
    ["POST", "master", "never", "never"],
    ["GET", "bearer", "never", "never"],
  ] as const)("the level of %s with the authentication %s and the column %s is %s", (...row) => {
    const [method, auth, operator, level] = row;
    expect(getOperatorLevel({ method, auth, ...(operator && { operator }) })).toBe(level);
  });
});

describe("the operator's audit", () => {
  test.each([
    ["POST", "master", undefined, false, true],
    ["POST", "master", undefined, true, true],
    ["GET", "master", undefined, true, false],
    ["POST", "bearer", undefined, false, false],
    ["DELETE", "bearer", undefined, true, true],
    ["GET", "bearer", undefined, true, true],
    ["GET", "bearer", undefined, false, false],
    ["GET", "public", undefined, true, false],
    ["GET", "bearer", "never", true, false],
    ["GET", "master", "always", false, true],
  ] as const)(
    "the operator's audit of %s with %s, %s and a session (%s) records it: %s",
    (...row) => {
      const [method, auth, audited, isSession, recorded] = row;
      expect(isAudited({ method, auth, ...(audited && { audited }) }, isSession)).toBe(recorded);
    },
  );
});
