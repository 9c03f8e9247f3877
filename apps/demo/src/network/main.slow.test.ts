import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "network-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the demo to its end and expects it to leave no process and no folder. */
async function runDemo(...args: readonly string[]): Promise<string> {
  // A separate process group, so that processes left over by the demo can be found.
  const child = spawn(process.execPath, ["--conditions=agent-source", main, ...args], {
    detached: true,
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data: Buffer) => {
    output += data.toString();
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, output]).toEqual([0, expect.stringContaining("All checks passed")]);
  expect(() => process.kill(-(child.pid ?? 0), 0)).toThrow("ESRCH");
  expect(await readdir(folder)).toEqual([]);
  return output;
}

test("the demo of three relays passes all checks and leaves no process or folder", async () => {
  const output = await runDemo();
  expect(output.match(/^ {2}ok {2}/gm)).toHaveLength(7);
  expect(output.match(/receipt valid/g)).toHaveLength(4);
  expect(output.match(/gamma valid/g)).toHaveLength(2);
  expect(output).toMatch(
    /witnessed 2 of 2, by agent-relay\/\S+\/witness, agent-relay\/\S+\/witness/,
  );
}, 100_000);

test("the demo of a lying relay shows in one screen that witness, monitor and verifier detect it", async () => {
  const output = await runDemo("--liar");
  expect(output.match(/^ {2}ok {2}/gm)).toHaveLength(4);
  expect(output).toContain("422 log.equivocation");
  expect(output).toContain("ALARM monitor.split_view; both checkpoints are in the evidence file");
  expect(output).toContain("refused, log.quorum_missing");
  expect(output.split("\n").length).toBeLessThan(40);
}, 100_000);
