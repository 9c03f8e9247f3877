import { connectDevice } from "@agent/testkit";
import { computePercentile99, type Figure } from "../figures.ts";
import type { RelaySide } from "../relay-side.ts";

/** Submits tasks at the first process, one after another, to a device at the second; returns the ms to each offer. */
export async function measureOffers(
  [submitting, offering]: readonly [RelaySide, RelaySide],
  count: number,
): Promise<number[]> {
  const { worker } = submitting.agents;
  const ready = Promise.withResolvers<void>();
  let offered = Promise.withResolvers<void>();
  const socket = connectDevice({
    baseUrl: offering.child.url,
    agent: worker,
    onMessage({ type }) {
      if (type === "ready") ready.resolve();
      if (type === "task_assigned") offered.resolve();
    },
  });
  const delays: number[] = [];
  try {
    await ready.promise;
    for (let at = 0; at < count; at += 1) {
      offered = Promise.withResolvers();
      const began = performance.now();
      await submitting.submitOpenScored();
      await offered.promise;
      delays.push(performance.now() - began);
    }
  } finally {
    socket.close();
  }
  // The first offer may come before the first process knows the device.
  return delays.slice(1);
}

export function toNotifiedFigure(delays: readonly number[]): Figure {
  return {
    name: "task at one process to its offer at another, ms, 99th percentile",
    value: computePercentile99(delays),
    floor: 100,
    goal: 30,
    bound: "max",
    rounds: delays,
  };
}

export function toLookedFigure(delays: readonly number[]): Figure {
  return {
    name: "the same without notifications, ms",
    value: computePercentile99(delays),
    floor: 3_500,
    goal: 2_500,
    bound: "max",
    rounds: delays,
  };
}
