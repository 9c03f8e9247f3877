import { describe, expect, test } from "vitest";
import { createEnvironment } from "../environment.ts";
import { refusal, type CallRefusal } from "./refusal.ts";
import { sleep, retry } from "./retry.ts";
import { createManualTime } from "../testing/manual-time.ts";

const START = 1_760_000_000_000;
const done = { ok: true } as const;
const busy = (status: number, retryAfterSeconds?: number): CallRefusal => ({
  ...refusal("rate.exceeded", "", status),
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});

/** Runs `retry` over the given answers; every wait is taken at once and noted. */
async function run(
  answers: readonly (typeof done | CallRefusal)[],
  { repeatable = false, timeoutMs = 60_000, signal = undefined as AbortSignal | undefined } = {},
) {
  const time = createManualTime(START);
  const waits: number[] = [];
  const environment = createEnvironment({
    ...time,
    randomBytes: (length) => new Uint8Array(length).fill(0x80),
    schedule(ms, task) {
      waits.push(ms);
      const cancel = time.schedule(ms, task);
      queueMicrotask(() => time.advance(ms));
      return cancel;
    },
  });
  let asked = 0;
  const attempt = () => Promise.resolve(answers[asked++] ?? done);
  const patience = { deadline: START + timeoutMs, environment, signal };
  return { answer: await retry(attempt, repeatable, patience), asked, waits };
}

describe("what passes is tried again", () => {
  test.each([429, 503])("%i after the time that the relay names", async (status) => {
    const result = await run([busy(status, 7)]);
    expect(result).toMatchObject({ answer: done, asked: 2 });
    expect(result.waits[0]).toBeGreaterThanOrEqual(7_000);
    expect(result.waits[0]).toBeLessThan(7_500);
  });

  test.each<[string, CallRefusal]>([
    ["a lost connection", refusal("network.unreachable", "")],
    ["a timeout", refusal("network.timeout", "")],
    ["a failed server", refusal("server.failed", "", 500)],
    ["a proxy without its relay", refusal("response.malformed", "", 502)],
    ["a rate limit without Retry-After", busy(429)],
    ["the call that it repeats", refusal("idempotency.key_in_use", "", 409)],
  ])("%s, for a read", async (_, failure) => {
    const result = await run([failure, failure, failure], { repeatable: true });
    expect(result).toMatchObject({ answer: done, asked: 4 });
    expect(result.waits).toHaveLength(3);
    expect(result.waits).toEqual(result.waits.toSorted((a, b) => a - b));
    expect(await run([failure])).toEqual({ answer: failure, asked: 1, waits: [] });
  });
});

describe("nothing is tried again", () => {
  test.each<[string, CallRefusal]>([
    ["refused for good", refusal("task.not_found", "", 404)],
    ["refused for good, although it names a time", busy(402, 1)],
    ["aborted", refusal("network.aborted", "")],
    ["not the contract's", refusal("response.malformed", "", 200)],
    ["never sent", refusal("request.invalid", "")],
  ])("that was %s", async (_, failure) => {
    expect(await run([failure], { repeatable: true })).toEqual({
      answer: failure,
      asked: 1,
      waits: [],
    });
  });

  test("when the wait would outlast the deadline", async () => {
    const failure = busy(429, 60);
    expect(await run([failure])).toEqual({ answer: failure, asked: 1, waits: [] });
  });

  test("after an abort", async () => {
    const signal = AbortSignal.abort();
    const result = await run([busy(429, 1)], { signal });
    expect(result).toMatchObject({ answer: { code: "network.aborted" }, asked: 1, waits: [] });
  });
});

test("a pause ends at its time or at the abort, and leaves no timer behind", async () => {
  const time = createManualTime(START);
  const environment = createEnvironment(time);
  const controller = new AbortController();
  const aborted = sleep(1_000, { environment, signal: controller.signal });
  const timed = sleep(2_000, { environment, signal: undefined });
  controller.abort();
  await aborted;
  expect(time.pending()).toEqual([2_000]);
  time.advance(2_000);
  await timed;
  expect(time.pending()).toEqual([]);
});
