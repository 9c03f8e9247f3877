import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createPacedSend } from "./paced-send.ts";

test("messages do not wait for a clock that jumped back", async () => {
  let now = 1_000_000_000;
  const send = createPacedSend(() => ({ ok: true }), { now: () => now });
  for (let i = 0; i < 100; i++) send({ type: "ping" });
  expect(send({ type: "ping" })).toMatchObject({ code: "socket.backlogged" });
  now -= 86_400_000;
  expect(send({ type: "ping" })).toEqual({ ok: true });
});

test("no more messages are sent than the relay accepts in 10 seconds, and failed ones do not count", async () => {
  const clock = createManualClock();
  let ready = false;
  const send = createPacedSend(
    () => (ready ? { ok: true } : { ok: false, code: "socket.not_ready" }),
    clock,
  );
  const ping = () => send({ type: "ping" });
  for (let i = 0; i < 200; i++) expect(ping()).toEqual({ ok: false, code: "socket.not_ready" });
  ready = true;
  const burst = Array.from({ length: 100 }, ping).filter(({ ok }) => ok);
  expect(burst).toHaveLength(95);
  await clock.advance(9_999);
  expect(ping()).toEqual({ ok: false, code: "socket.backlogged" });
  await clock.advance(1);
  expect(ping().ok).toBe(true);
});
