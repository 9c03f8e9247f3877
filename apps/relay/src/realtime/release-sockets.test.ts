import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import type { Connection } from "./connections.ts";
import { releaseSockets } from "./release-sockets.ts";

/** Releases the given number of devices and counts those that are closed after each step. */
async function countClosed(count: number, isSpread: boolean, times: readonly number[]) {
  const clock = createManualClock();
  let closed = 0;
  const sent: string[] = [];
  const device = {
    send: ({ type }: { readonly type: string }) => sent.push(type),
    close: () => (closed += 1),
  } as unknown as Connection;
  const released = releaseSockets(Array<Connection>(count).fill(device), { ...clock, isSpread });
  const counts: number[] = [];
  for (const ms of times) {
    await clock.advance(ms);
    counts.push(closed);
  }
  await released;
  expect(sent).toEqual(Array(count).fill("draining"));
  return counts;
}

test.each([
  [50, true, [0], [50]],
  [120, true, [0, 50, 50], [50, 100, 120]],
  [10_000, true, [0, 2_450, 2_500], [100, 5_000, 10_000]],
  [10_000, false, [0], [10_000]],
] as const)(
  "of %i devices (spread over time: %s), after steps of %j ms, %j are closed",
  async (count, isSpread, times, closed) => {
    expect(await countClosed(count, isSpread, times)).toEqual(closed);
  },
);
