import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProcesses, type Program } from "./processes.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-processes-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function program(name: string, source: string): Promise<Program> {
  const main = join(folder, `${name}.mjs`);
  await writeFile(main, source);
  return { name, main, env: { GREETING: "ready at 7" } };
}

const ready = (line: string) => /^ready at (\d)$/.exec(line)?.[1];
const idle = "console.log(process.env.GREETING); setInterval(() => {}, 1_000);";
const stubborn = `process.on("SIGTERM", () => {}); ${idle}`;
const broken = 'console.error("no such wallet"); process.exit(3);';

test.each([
  ["that listens to SIGTERM", idle, "SIGTERM"],
  ["that does not listen", stubborn, "SIGKILL"],
])("a program %s is gone after stop", async (_, source, signal) => {
  const processes = createProcesses(200);
  const running = processes.start(await program("idle", source));
  expect(await running.waitForLine(ready)).toBe("7");
  expect(processes.listRunning()).toEqual(["idle"]);
  await processes.stop();
  expect(processes.listRunning()).toEqual([]);
  expect(processes.lastLines(1)).toEqual([`idle: ended with ${signal}`]);
});

test("a program has the environment that it was given, and nothing else", async () => {
  const processes = createProcesses();
  const source = "console.log(Object.keys(process.env).join());";
  const names = processes.start(await program("names", source)).waitForLine((line) => line);
  expect(await names).toBe("GREETING");
  await processes.stop();
});

test("a program that ends before it is asked to is a failure, and tells why", async () => {
  const processes = createProcesses();
  processes.start(await program("broken", broken));
  await expect(processes.failed).rejects.toThrow("broken ended with exit code 3");
  expect(processes.lastLines(5)).toEqual([
    "broken: no such wallet",
    "broken: ended with exit code 3",
  ]);
  await processes.stop();
});

test("nothing is started once the stop has begun", async () => {
  const processes = createProcesses();
  const late = await program("late", idle);
  await processes.stop();
  expect(() => processes.start(late)).toThrow("late was not started");
  expect(processes.listRunning()).toEqual([]);
});
