import type { Contract } from "./outcome.ts";

export const clockContract: Contract<"acceptClock"> = {
  acceptClock: { 200: (t) => t.asMaster("POST", "/api/v1/admin/clock/accept") },
};
