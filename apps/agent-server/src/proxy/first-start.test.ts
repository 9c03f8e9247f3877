import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { startFirst, type Connect } from "./first-start.ts";

const address = { command: "npx", args: ["--token", "t"], env: { KEY: "secret-value" } };

function start(connect: Connect) {
  const clock = createManualClock();
  const logged: unknown[] = [];
  const runtime = { ...clock, log: (...line: unknown[]) => void logged.push(line) };
  return { clock, logged, tools: startFirst({ name: "files", address }, connect, runtime) };
}

test("a slow start is logged once without the arguments of its command", async () => {
  const connected = Promise.withResolvers<Awaited<ReturnType<Connect>>>();
  const { clock, logged, tools } = start(() => connected.promise);
  await clock.advance(1_999);
  expect(logged).toEqual([]);
  await clock.advance(1);
  const waiting = { server: "files", for: "npx", at_most_ms: 180_000 };
  expect(logged).toEqual([["info", "proxy.waiting", waiting]]);
  await clock.advance(60_000);
  expect(logged).toEqual([["info", "proxy.waiting", waiting]]);
  connected.resolve({ listTools: async () => ({ tools: [] }) });
  expect(await tools).toEqual([]);
  expect(clock.pending()).toEqual([]);
});

test("a failed start shows the server's last output in one line without its secrets", async () => {
  const { clock, tools } = start((_, onStderr) => {
    onStderr("key secret-value\n");
    onStderr("is wrong\n");
    return Promise.reject(new Error("closed"));
  });
  await expect(tools).rejects.toThrow(
    /^cannot be reached: closed; its standard error: key (?!secret-value).+ \| is wrong$/,
  );
  expect(clock.pending()).toEqual([]);
});
