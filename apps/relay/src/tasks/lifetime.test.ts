import { describe, expect, test } from "vitest";
import { calculateForwardedExpiry, checkLifetime } from "./lifetime.ts";

const bounds = { ttlMs: 900_000, ttlMaxMs: 7_200_000 };

describe("B12: the lifetime of a task", () => {
  test.each<[asked: number | undefined, lifetimeMs: number | undefined]>([
    [undefined, 900_000],
    [60_000, 60_000],
    [900_001, 900_001],
    [7_200_000, 7_200_000],
    [7_200_001, undefined],
    [Number.MAX_SAFE_INTEGER, undefined],
  ])("B12: a requested lifetime of %s becomes %s", (asked, lifetimeMs) => {
    const refused = {
      ok: false,
      code: "request.invalid",
      issues: [{ path: "ttl_ms", message: "must be at most 7200000" }],
    };
    expect(checkLifetime(asked, bounds)).toMatchObject(
      lifetimeMs === undefined ? refused : { ok: true, lifetimeMs },
    );
  });

  test.each<[expiresAt: number | undefined, until: number]>([
    [undefined, 1_000_000 + 900_000],
    [1_000_001, 1_000_001],
    [1_000_000 + 7_200_000, 1_000_000 + 7_200_000],
    [1_000_000 + 7_200_001, 1_000_000 + 7_200_000],
  ])("B12: a forward that ends at %s lasts until %s", (expiresAt, until) => {
    expect(calculateForwardedExpiry(expiresAt, 1_000_000, bounds)).toBe(until);
  });
});
