import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createPauses } from "./pauses.ts";

test("waits for an unreachable relay can be ended apart from the others", async () => {
  const clock = createManualClock();
  const pauses = createPauses(clock);
  const ended: string[] = [];
  const wait = (name: string, ms: number, unreachable: boolean) =>
    void pauses.wait(ms, { unreachable }).then(() => ended.push(name));
  wait("unreachable", 1_000, true);
  wait("asked for", 1_000, false);
  wait("asked for longer", 2_000, false);
  pauses.end("unreachable");
  await clock.advance(999);
  expect(ended).toEqual(["unreachable"]);
  await clock.advance(1);
  expect(ended).toEqual(["unreachable", "asked for"]);
  pauses.end("all");
  await clock.advance(0);
  expect(ended).toEqual(["unreachable", "asked for", "asked for longer"]);
  expect(clock.pending()).toEqual([]);
});
