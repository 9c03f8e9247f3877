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

/** Runs `retry` over the given answers; waits end at once and are recorded. */
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
  const retryOptions = { deadline: START + timeoutMs, environment, signal };
  return { answer: await retry(attempt, repeatable, retryOptions), asked, waits };
}

describe("retry of temporary failures", () => {
  test.each([429, 503])(
    "retry repeats a call refused with %i after the time of Retry-After",
    async (status) => {
      const result = await run([busy(status, 7)]);
      expect(result).toMatchObject({ answer: done, asked: 2 });
      expect(result.waits[0]).toBeGreaterThanOrEqual(7_000);
      expect(result.waits[0]).toBeLessThan(7_500);
    },
  );

  test.each<[string, CallRefusal]>([
    ["a lost connection", refusal("network.unreachable", "")],
    ["a timeout", refusal("network.timeout", "")],
    ["a failed server", refusal("server.failed", "", 500)],
    ["a proxy without its relay", refusal("response.malformed", "", 502)],
    ["a rate limit without Retry-After", busy(429)],
    ["a request with this key that is still running", refusal("idempotency.key_in_use", "", 409)],
  ])("retry repeats a read after %s", async (_, failure) => {
    const result = await run([failure, failure, failure], { repeatable: true });
    expect(result).toMatchObject({ answer: done, asked: 4 });
    expect(result.waits).toHaveLength(3);
    expect(result.waits).toEqual(result.waits.toSorted((a, b) => a - b));
    expect(await run([failure])).toEqual({ answer: failure, asked: 1, waits: [] });
  });
});

test("E21: retry waits a minute for a proxy that states an hour of maintenance", async () => {
  const result = await run([busy(503, 3_600)], { timeoutMs: 120_000 });
  expect(result).toMatchObject({ answer: done, asked: 2 });
  expect(result.waits[0]).toBeLessThan(60_500);
});

describe("retry of permanent failures", () => {
  test.each<[string, CallRefusal]>([
    ["refused permanently", refusal("task.not_found", "", 404)],
    ["refused permanently with Retry-After", busy(402, 1)],
    ["aborted", refusal("network.aborted", "")],
    ["answered with a malformed response", refusal("response.malformed", "", 200)],
    ["never sent", refusal("request.invalid", "")],
  ])("retry does not repeat a call that was %s", async (_, failure) => {
    expect(await run([failure], { repeatable: true })).toEqual({
      answer: failure,
      asked: 1,
      waits: [],
    });
  });

  test("retry does not repeat a call when the wait would end after the deadline", async () => {
    const failure = busy(429, 60);
    expect(await run([failure])).toEqual({ answer: failure, asked: 1, waits: [] });
  });

  test("retry does not repeat a call after an abort", async () => {
    const signal = AbortSignal.abort();
    const result = await run([busy(429, 1)], { signal });
    expect(result).toMatchObject({ answer: { code: "network.aborted" }, asked: 1, waits: [] });
  });
});

test("sleep ends after its time or at an abort and leaves no timer", async () => {
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
