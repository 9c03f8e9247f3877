import { expect, test } from "vitest";
import { getRetryMs } from "./get-retry-ms.ts";
import { refuseLocally } from "./refuse-locally.ts";

test.each([
  ["of a relay that does not answer", { code: "network.unreachable", status: 0 }, 2_000],
  ["of a relay that is busy", { code: "rate.exceeded", status: 429, retryAfterSeconds: 7 }, 7_000],
  ["of a proxy that limits requests", { code: "response.malformed", status: 429 }, 10_000],
  ["of a proxy without its relay", { code: "response.malformed", status: 503 }, 2_000],
  ["of a proxy that answers itself", { code: "response.malformed", status: 200 }, 2_000],
  ["of something that does not exist", { code: "agent.not_found", status: 404 }, undefined],
])("a read is repeated after the refusal %s: %j", (_, refusal, ms) => {
  expect(getRetryMs(refusal)).toBe(ms);
});

test("OP26: a statement that is too long for a chart is not read again and again", () => {
  expect(getRetryMs(refuseLocally("too long for a chart"))).toBeUndefined();
});
