import { expect, test } from "vitest";
import { isFinalRefusal } from "./is-final-refusal.ts";

test.each([
  ["task.not_pending", 409, true],
  ["approval.not_found", 404, true],
  ["auth.not_owner", 403, true],
  ["auth.device_not_authorized", 403, false],
  ["agent.key_displaced", 403, false],
  ["agent.revoked", 403, true],
  ["rate.exceeded", 429, false],
  ["request.timeout", 408, false],
  ["server.failed", 500, false],
  ["server.draining", 503, false],
  ["network.unreachable", 0, false],
  ["response.malformed", 200, false],
  ["response.malformed", 404, false],
  ["response.too_large", 400, false],
  // Both a proxy and a later version of the relay answer with codes that this version does not know.
  ["Forbidden", 403, false],
  ["moon.too_low", 409, false],
])("a refusal with code %s and status %i is final: %s", (code, status, expected) => {
  expect(isFinalRefusal({ code, status })).toBe(expected);
});
