import type { Contract } from "../outcome.ts";

export const clockContract: Contract<"acceptClock"> = {
  acceptClock: { 200: (t) => t.asOperator("POST", "/api/v1/admin/clock/accept") },
};
