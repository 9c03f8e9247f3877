import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createEndpointBackoff } from "./endpoint-backoff.ts";

function setUp() {
  const clock = createManualClock();
  const over: string[] = [];
  return { clock, over, backoff: createEndpointBackoff(clock, (agent) => over.push(agent)) };
}

test("an endpoint that fails is paused for 1 s, and then twice as long each time, up to 60 s", async () => {
  const { clock, backoff } = setUp();
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(backoff.mayTry("a")).toBe(true);
    backoff.recordFailure("a", "agent");
    await clock.advance(seconds * 1_000 - 1);
    expect(backoff.mayTry("a")).toBe(false);
    await clock.advance(1);
  }
  expect(backoff.mayTry("a")).toBe(true);
  expect(backoff.mayTry("b")).toBe(true);
});

test("parallel failures of an endpoint count as one", async () => {
  const { clock, over, backoff } = setUp();
  for (let i = 0; i < 10; i++) backoff.recordFailure("a", "agent");
  await clock.advance(1_000);
  expect(backoff.mayTry("a")).toBe(true);
  expect(over).toEqual(["agent"]);
});

test("an endpoint that answers again starts with the shortest pause", async () => {
  const { clock, over, backoff } = setUp();
  backoff.recordFailure("a", "agent");
  await clock.advance(1_000);
  backoff.recordFailure("a", "agent");
  await clock.advance(2_000);
  backoff.recordSuccess("a");
  backoff.recordFailure("a", "agent");
  await clock.advance(1_000);
  expect(backoff.mayTry("a")).toBe(true);
  expect(over).toHaveLength(3);
});

test("an answer of an endpoint ends its pause at once", async () => {
  const { clock, over, backoff } = setUp();
  backoff.recordFailure("a", "agent");
  backoff.recordSuccess("a");
  expect(backoff.mayTry("a")).toBe(true);
  expect(over).toEqual(["agent"]);
  await clock.advance(60_000);
  expect(over).toEqual(["agent"]);
});

test("an answer of an endpoint that is not paused ends nothing", async () => {
  const { clock, over, backoff } = setUp();
  backoff.recordSuccess("a");
  backoff.recordFailure("a", "agent");
  await clock.advance(1_000);
  backoff.recordSuccess("a");
  expect(over).toEqual(["agent"]);
});

test("failures of at most 10,000 endpoints are stored, and the oldest is dropped first", () => {
  const { clock, backoff } = setUp();
  for (let i = 0; i <= 10_000; i++) backoff.recordFailure(`endpoint ${i}`, "agent");
  expect(backoff.mayTry("endpoint 0")).toBe(true);
  expect(backoff.mayTry("endpoint 1")).toBe(false);
  expect(clock.pending()).toHaveLength(10_000);
  backoff.stop();
  expect(clock.pending()).toEqual([]);
});
