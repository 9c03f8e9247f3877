import { expect, test } from "vitest";
import { createRelayClock } from "./relay-clock.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

test.each([
  ["Thu, 01 Jan 2026 12:10:00 GMT", 601_000],
  ["Thu, 01 Jan 2026 11:50:00 GMT", -599_000],
  ["no date", 0],
  [undefined, 0],
])("an answer of %j shows that the relay's clock is ahead by %i ms", async (date, aheadMs) => {
  const headers = date === undefined ? {} : { date };
  const clock = createRelayClock(
    async () => new Response("", { headers }),
    () => NOW,
  );
  expect(clock.aheadMs()).toBe(0);
  await clock.send("https://relay.example/");
  expect(clock.aheadMs()).toBe(aheadMs);
});
