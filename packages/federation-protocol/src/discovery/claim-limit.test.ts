import { expect, test } from "vitest";
import { getClaimLimit } from "./claim-limit.ts";

const DEFAULTS = { verified: 50_000, trusted: 500_000 };

test.each([
  [0, DEFAULTS, "first_contact"],
  [99_999, DEFAULTS, "first_contact"],
  [100_000, DEFAULTS, "verified"],
  [999_999, DEFAULTS, "verified"],
  [1_000_000, DEFAULTS, "trusted"],
  [0, { verified: 0, trusted: 0 }, "trusted"],
] as const)(
  "C6: after fees of %i with the thresholds %o claims count up to %s",
  (fees, at, limit) => {
    expect(getClaimLimit(fees, at)).toBe(limit);
  },
);
