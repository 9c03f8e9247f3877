import { describe, expect, test } from "vitest";
import { decideReconnection, noFailures, type SocketEnd } from "./decide-reconnection.ts";

const latest = (length: number) => new Uint8Array(length).fill(0xff);
const lost: SocketEnd = { code: 1_006, reason: "" };

function decide(end: Partial<SocketEnd>, before = noFailures) {
  return decideReconnection({ ...lost, ...end }, before, latest);
}

describe("decideReconnection", () => {
  test.each<[string, Partial<SocketEnd>, number]>([
    ["a lost connection", {}, 499],
    ["a relay that shuts down", { code: 1_001, readyForMs: 5_000 }, 499],
    [
      "close code 4401 of an accepted device, whose token expired",
      { code: 4_401, readyForMs: 299_000 },
      499,
    ],
    ["close code 4429, after its window of 10 s", { code: 4_429, readyForMs: 5_000 }, 10_499],
    ["status 503 with Retry-After", { status: 503, retryAfterSeconds: 5 }, 5_499],
    ["status 429 with Retry-After", { status: 429, retryAfterSeconds: 60 }, 60_499],
    ["E21: an hour of maintenance of a proxy", { status: 503, retryAfterSeconds: 3_600 }, 60_499],
  ])("decideReconnection connects again after %s", (_, end, inMs) => {
    expect(decide(end)).toMatchObject({ retry: true, inMs });
  });

  test("decideReconnection doubles its waits up to 30 s until a connection lasts 30 s", () => {
    let failures = noFailures;
    const waits = Array.from({ length: 9 }, () => {
      const next = decide({ readyForMs: 29_999 }, failures);
      if (next.retry) failures = next.failures;
      return next.retry ? next.inMs : Number.NaN;
    });
    expect(waits).toEqual([499, 999, 1_999, 3_999, 7_999, 15_999, 29_999, 29_999, 29_999]);
    expect(decide({ readyForMs: 30_000 }, failures)).toMatchObject({ retry: true, inMs: 499 });
  });
});

describe("decideReconnection for a refused device", () => {
  test.each<[string, Partial<SocketEnd>]>([
    ["close code 4401", { code: 4_401 }],
    ["status 401", { status: 401 }],
    ["status 403", { status: 403 }],
  ])("decideReconnection gives up after %s three times in a row", (_, end) => {
    expect(decide(end, { attempts: 0, rejections: 1 })).toMatchObject({
      retry: true,
      failures: { attempts: 1, rejections: 2 },
    });
    expect(decide(end, { attempts: 0, rejections: 2 })).toEqual({ retry: false });
  });

  test("decideReconnection restarts the count of refusals after any other end", () => {
    expect(decide({}, { attempts: 5, rejections: 2 })).toMatchObject({
      retry: true,
      failures: { attempts: 6, rejections: 0 },
    });
  });
});
