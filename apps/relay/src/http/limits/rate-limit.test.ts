import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRateLimiter } from "./rate-limit.ts";

const minute = 60_000;

function limiterAt(start: number, options: { scale?: number; maxEntries?: number } = {}) {
  const clock = { time: start };
  const { scale = 1, maxEntries = 1_000 } = options;
  return { clock, limiter: createRateLimiter({ scale, maxEntries, now: () => clock.time }) };
}

describe("the sliding window", () => {
  test("the limiter refuses the 31st call within 60 s and allows it once the first one is older than the window", () => {
    const { clock, limiter } = limiterAt(0);
    for (let call = 0; call < 30; call += 1) {
      expect(limiter.take(30, minute, "write 192.0.2.1").allowed).toBe(true);
      clock.time += 1_000;
    }
    clock.time = minute - 1;
    expect(limiter.take(30, minute, "write 192.0.2.1").allowed).toBe(false);
    clock.time = minute;
    expect(limiter.take(30, minute, "write 192.0.2.1").allowed).toBe(true);
    expect(limiter.take(30, minute, "write 192.0.2.1").allowed).toBe(false);
  });

  test("a refused call does not extend the window", () => {
    const { clock, limiter } = limiterAt(0);
    limiter.take(1, minute, "a");
    for (clock.time = 1; clock.time < minute; clock.time += 1_000) {
      expect(limiter.take(1, minute, "a").allowed).toBe(false);
    }
    clock.time = minute;
    expect(limiter.take(1, minute, "a").allowed).toBe(true);
  });

  test("the limiter counts each key and each window length separately", () => {
    const { limiter } = limiterAt(0);
    expect(limiter.take(1, minute, "read a").allowed).toBe(true);
    expect(limiter.take(1, minute, "read b").allowed).toBe(true);
    expect(limiter.take(1, 10_000, "read a").allowed).toBe(true);
    expect(limiter.take(1, minute, "read a").allowed).toBe(false);
  });

  test("a decision names the limit, the remaining calls and the time of the reset", () => {
    const { clock, limiter } = limiterAt(5_000);
    const decision = { allowed: true, limit: 2, remaining: 1, resetSeconds: 60 };
    expect(limiter.take(2, minute, "a")).toEqual({ ...decision, retryAfterSeconds: 0 });
    clock.time += 20_500;
    expect(limiter.take(2, minute, "a")).toMatchObject({ remaining: 0, resetSeconds: 40 });
    clock.time += 39_000;
    expect(limiter.take(2, minute, "a")).toEqual({
      allowed: false,
      limit: 2,
      remaining: 0,
      resetSeconds: 1,
      retryAfterSeconds: 1,
    });
    clock.time += 1_000;
    expect(limiter.take(2, minute, "a").allowed).toBe(true);
  });

  test("the limiter decides like a plain list of call times", () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 120 })),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 400 }),
        fc.integer({ min: 1, max: 20 }),
        (steps, limit) => {
          const { clock, limiter } = limiterAt(0);
          const allowedAt = new Map<string, number[]>();
          for (const { key, wait } of steps) {
            clock.time += wait;
            const inWindow = (allowedAt.get(key) ?? []).filter((at) => at > clock.time - 100);
            const allowed = inWindow.length < limit;
            if (allowed) inWindow.push(clock.time);
            allowedAt.set(key, inWindow);
            const oldest = inWindow[0] ?? clock.time;
            expect(limiter.take(limit, 100, key)).toEqual({
              allowed,
              limit,
              remaining: limit - inWindow.length,
              resetSeconds: Math.ceil((oldest + 100 - clock.time) / 1_000),
              retryAfterSeconds: allowed ? 0 : 1,
            });
          }
        },
      ),
    );
  });

  test("the limiter counts exactly even beyond its initial capacity", () => {
    const { clock, limiter } = limiterAt(0);
    let allowed = 0;
    for (let call = 0; call < 20_000; call += 1) {
      clock.time = call;
      if (limiter.take(3_000, 5_000, "a").allowed) allowed += 1;
    }
    expect(allowed).toBe(12_000);
  });
});

describe("a call that counts for several keys", () => {
  const [host, line] = [
    { key: "host", tierLimit: 2 },
    { key: "line", tierLimit: 3 },
  ];
  const neighbour = { key: "neighbour", tierLimit: 2 };

  test("E11: a call is refused if one of its keys is at its limit, and then counts for none of them", () => {
    const { limiter } = limiterAt(0);
    const takes = (...keys: (typeof host)[]) => limiter.takeAll(minute, keys).allowed;
    expect([takes(host, line), takes(host, line), takes(host, line)]).toEqual([true, true, false]);
    expect([takes(neighbour, line), takes(neighbour, line)]).toEqual([true, false]);
    expect([takes(neighbour), takes(neighbour)]).toEqual([true, false]);
  });

  test("the decision states the limit of the first key, and the rest and reset of the key with fewest calls left", () => {
    const { clock, limiter } = limiterAt(0);
    limiter.takeAll(minute, [host, line]);
    clock.time = 10_000;
    limiter.takeAll(minute, [host, line]);
    clock.time = 20_000;
    expect(limiter.takeAll(minute, [neighbour, line])).toEqual({
      allowed: true,
      limit: 2,
      remaining: 0,
      resetSeconds: 40,
      retryAfterSeconds: 0,
    });
    expect(limiter.takeAll(minute, [neighbour, line])).toMatchObject({ retryAfterSeconds: 40 });
    clock.time = minute;
    expect(limiter.takeAll(minute, [neighbour, line]).allowed).toBe(true);
  });

  test("of two keys without calls left, the later reset decides when the caller may call again", () => {
    const { clock, limiter } = limiterAt(0);
    limiter.take(1, minute, "first");
    clock.time = 20_000;
    limiter.take(1, minute, "second");
    const keys = ["first", "second"].map((key) => ({ key, tierLimit: 1 }));
    expect(limiter.takeAll(minute, keys)).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
  });
});

describe("the scale", () => {
  test.each([
    [2, 30, 60],
    [0.5, 30, 15],
    [0.1, 30, 3],
    [0.001, 30, 1],
  ])("a scale of %d turns a limit of %i calls into %i", (scale, tierLimit, limit) => {
    const { limiter } = limiterAt(0, { scale });
    expect(limiter.take(tierLimit, minute, "a")).toMatchObject({ limit, remaining: limit - 1 });
  });

  test("a scale of 0 turns limits off", () => {
    const { limiter } = limiterAt(0, { scale: 0 });
    for (let call = 0; call < 1_000; call += 1) {
      expect(limiter.take(1, minute, "a")).toMatchObject({ allowed: true, limit: Infinity });
    }
  });
});

describe("memory", () => {
  test("100,000 addresses with five calls each use less than 40 MB, and almost none a minute later", () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const held = (): number => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return (heapUsed + arrayBuffers) / 1e6;
    };
    const { clock, limiter } = limiterAt(0, { maxEntries: 100_000 });
    const before = held();
    for (let call = 0; call < 500_000; call += 1) {
      limiter.take(30, minute, `read 2001:db8::${call % 100_000}`);
    }
    expect(held() - before).toBeLessThan(40);
    clock.time += minute;
    limiter.take(30, minute, "read 192.0.2.1");
    expect(held() - before).toBeLessThan(20);
  });

  test("the limiter drops the oldest calls first beyond maxEntries keys", () => {
    const { limiter } = limiterAt(0, { maxEntries: 10 });
    for (let key = 0; key < 10; key += 1) limiter.take(1, minute, `k${key}`);
    expect(limiter.take(1, minute, "k0").allowed).toBe(false);
    expect(limiter.take(1, minute, "k10").allowed).toBe(true);
    expect(limiter.take(1, minute, "k9").allowed).toBe(false);
    expect(limiter.take(1, minute, "k0").allowed).toBe(true);
  });

  test("the limiter still counts the last call of each recent key during a flood", () => {
    const keys = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 300 });
    fc.assert(
      fc.property(keys, (called) => {
        const { limiter } = limiterAt(0, { maxEntries: 8 });
        for (const key of called) {
          limiter.take(3, minute, `k${key}`);
          expect(limiter.take(1, minute, `k${key}`).allowed).toBe(false);
        }
      }),
    );
  });
});

describe("a clock that is set back", () => {
  test("a clock set back by less than the window changes no decision", () => {
    const { clock, limiter } = limiterAt(100_000);
    limiter.take(1, minute, "a");
    clock.time -= 30_000;
    expect(limiter.take(1, minute, "a").allowed).toBe(false);
    clock.time = 160_000;
    expect(limiter.take(1, minute, "a").allowed).toBe(true);
  });

  test("a call while the clock is set back counts as long as one at the time before", () => {
    const { clock, limiter } = limiterAt(100_000);
    limiter.take(2, minute, "a");
    clock.time = 70_000;
    limiter.take(2, minute, "a");
    clock.time = 159_999;
    expect(limiter.take(2, minute, "a").allowed).toBe(false);
    clock.time = 160_000;
    expect(limiter.take(2, minute, "a").allowed).toBe(true);
  });

  test("a clock set back by more than the window restarts the counting instead of refusing calls for that long", () => {
    const { clock, limiter } = limiterAt(10_000_000);
    limiter.take(1, minute, "a");
    clock.time = 0;
    expect(limiter.take(1, minute, "a").allowed).toBe(true);
    expect(limiter.take(1, minute, "a").allowed).toBe(false);
  });
});
