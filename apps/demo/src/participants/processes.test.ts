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
  ["that handles SIGTERM", idle, "SIGTERM"],
  ["that ignores SIGTERM", stubborn, "SIGKILL"],
])("a program %s has ended after stop", async (_, source, signal) => {
  const processes = createProcesses(200);
  const running = processes.start(await program("idle", source));
  expect(await running.waitForLine(ready)).toBe("7");
  expect(processes.listRunning()).toEqual(["idle"]);
  await processes.stop();
  expect(processes.listRunning()).toEqual([]);
  expect(processes.lastLines(1)).toEqual([`idle: ended with ${signal}`]);
});

test("a program has only the environment that it was given", async () => {
  const processes = createProcesses();
  const source = "console.log(Object.keys(process.env).join());";
  const names = processes.start(await program("names", source)).waitForLine((line) => line);
  expect(await names).toBe("GREETING");
  await processes.stop();
});

test("a program that ends early is a failure with its reason", async () => {
  const processes = createProcesses();
  processes.start(await program("broken", broken));
  await expect(processes.failed).rejects.toThrow("broken ended with exit code 3");
  expect(processes.lastLines(5)).toEqual([
    "broken: no such wallet",
    "broken: ended with exit code 3",
  ]);
  await processes.stop();
});

test("no program is started after stop was called", async () => {
  const processes = createProcesses();
  const late = await program("late", idle);
  await processes.stop();
  expect(() => processes.start(late)).toThrow("late was not started");
  expect(processes.listRunning()).toEqual([]);
});
