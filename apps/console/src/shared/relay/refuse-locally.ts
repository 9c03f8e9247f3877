import type { CallRefusal } from "@agent/client";

/** Builds a refusal by the page itself, for errors that it can detect without asking the relay. */
export function refuseLocally(message: string): CallRefusal {
  return { ok: false, code: "request.invalid", status: 0, message };
}
