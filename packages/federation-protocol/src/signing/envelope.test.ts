import { expect, it } from "vitest";
import { alpha, beta, NOW } from "../../test/messages.ts";
import { checkEnvelope } from "./envelope.ts";

it.each([
  [{}, null],
  [{ timestamp: NOW, to: beta.id }, null],
  [{ timestamp: NOW - 300_000 }, null],
  [{ timestamp: NOW - 300_001 }, "federation.timestamp_expired"],
  [{ timestamp: NOW + 300_001 }, "federation.timestamp_expired"],
  [{ to: alpha.id }, "federation.wrong_receiver"],
])("a body with %o at beta at this time has the refusal %s", (envelope, code) => {
  const checked = checkEnvelope(envelope, { self: beta.id, now: NOW });
  expect(checked.ok ? null : checked.code).toBe(code);
});

it("a scaled lifetime applies to bodies as well", () => {
  const context = { self: beta.id, now: NOW, lifetimeMs: 1_000 };
  expect(checkEnvelope({ timestamp: NOW - 1_001 }, context).ok).toBe(false);
});
