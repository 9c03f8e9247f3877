import { createManualClock, createSeededRandom, findFreePort } from "@agent/testkit";
import { expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { createLog } from "../observability/log.ts";
import { minimalEnv } from "../../test/processes/relay-process.ts";
import { runRelay } from "./run-relay.ts";

test("a relay that is ready answers a signal with a drain, even before its start has returned", async () => {
  const port = await findFreePort();
  const read = readConfig({ ...minimalEnv, PORT: String(port) });
  if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join("; "));
  const { now, schedule } = createManualClock();
  const lines: string[] = [];
  const write = { stdout: (line: string) => void lines.push(line), stderr: () => {} };
  const reactions = new Map<string, () => void>();
  const { promise: ended, resolve: exit } = Promise.withResolvers<number>();
  const running = runRelay(
    read.config,
    {
      name: "here",
      runtime: { now, schedule, randomBytes: createSeededRandom(1).randomBytes },
      display: { width: 80, hasColor: false },
      isTerminal: false,
      createLog: (level) => createLog({ level, write, now }),
      print: () => {},
      onSignal: (signal, react) => void reactions.set(signal, react),
      onFault: () => {},
      exit,
    },
    { isDev: false },
  );
  await expect
    .poll(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status, {
      interval: 1,
    })
    .toBe(200);
  reactions.get("SIGTERM")?.();
  expect(await ended).toBe(0);
  await running;
  expect(lines.join("")).toContain("relay.stopped");
});
