import type { CallRefusal } from "@agent/client";

/** Builds a refusal of the page itself, for what it can see without asking the relay. */
export function refuseLocally(message: string): CallRefusal {
  return { ok: false, code: "request.invalid", status: 0, message };
}
