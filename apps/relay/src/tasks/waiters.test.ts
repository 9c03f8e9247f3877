import { describe, expect, test } from "vitest";
import { createManualClock } from "@agent/testkit";
import { createTaskWaiters, type Watch } from "./waiters.ts";

describe("waiting requests", () => {
  const never = new AbortController().signal;

  test("a request that waits for a task is released by that task's next change, and others are not", async () => {
    const clock = createManualClock();
    const waiters = createTaskWaiters(clock.schedule);
    const released: string[] = [];
    for (const task of ["a", "a", "b"]) {
      void waiters.watch(task, 1_000, never).changed.then(() => released.push(task));
    }
    waiters.notify("a");
    await clock.advance(0);
    expect(released).toEqual(["a", "a"]);
    expect(clock.pending()).toEqual([1_000]);
  });

  test.each<[string, (parts: Parts) => unknown]>([
    ["when its time is over", ({ clock }) => clock.advance(1_000)],
    ["when the client disconnects", ({ client }) => client.abort()],
    ["when it is stopped", ({ watch }) => watch.stop()],
    ["when the relay shuts down", ({ waiters }) => waiters.releaseAll()],
  ])(
    "a request that waits for a task is released %s, and leaves no timer behind",
    async (_, end) => {
      const clock = createManualClock();
      const client = new AbortController();
      const waiters = createTaskWaiters(clock.schedule);
      const watch = waiters.watch("a", 1_000, client.signal);
      await end({ clock, client, watch, waiters });
      await watch.changed;
      expect(clock.pending()).toEqual([]);
    },
  );

  test("a request that waits for a task is released at once if its client is gone or the relay is shutting down", async () => {
    const clock = createManualClock();
    const waiters = createTaskWaiters(clock.schedule);
    await waiters.watch("a", 1_000, AbortSignal.abort()).changed;
    waiters.releaseAll();
    await waiters.watch("a", 1_000, never).changed;
    expect(clock.pending()).toEqual([]);
  });
});

interface Parts {
  readonly clock: ReturnType<typeof createManualClock>;
  readonly client: AbortController;
  readonly waiters: ReturnType<typeof createTaskWaiters>;
  readonly watch: Watch;
}
