import type { CallRefusal } from "@agent/client";
import { expect, test } from "vitest";
import { toLookup } from "./lookup.ts";

const refusal = (code: string, status: number, retryAfterSeconds?: number): CallRefusal => ({
  ok: false,
  code,
  status,
  message: "",
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});

test("a look-up returns the answer of the relay", () => {
  expect(toLookup({ ok: true, body: "key" }, "agent.not_found")).toEqual({
    status: "found",
    value: "key",
  });
});

test('a look-up answers "unknown" only if the relay itself says so', () => {
  expect(toLookup(refusal("agent.not_found", 404), "agent.not_found")).toEqual({
    status: "unknown",
  });
});

test.each<[string, CallRefusal, number]>([
  ["a limit", refusal("rate.exceeded", 429, 17), 17],
  ["a failure", refusal("server.failed", 500), 5],
  ["a relay without storage", refusal("server.unavailable", 503, 2), 2],
  ["a lost connection", refusal("network.unreachable", 0), 5],
  ["silence", refusal("network.timeout", 0), 5],
  ["an answer that cannot be read", refusal("response.malformed", 200), 5],
  ["the page of a proxy", refusal("response.malformed", 404), 5],
  ["a refused token", refusal("auth.device_not_authorized", 403), 5],
  ["another missing thing", refusal("device.not_found", 404), 5],
])("E9: %s does not decide a look-up", (_, answer, retryAfterSeconds) => {
  expect(toLookup(answer, "agent.not_found")).toEqual({ status: "unavailable", retryAfterSeconds });
});
