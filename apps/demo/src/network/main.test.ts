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

test("the demo of three relays passes all checks and leaves no process or folder", async () => {
  // A separate process group, so that processes that the demo leaves behind can be found.
  const child = spawn(process.execPath, ["--conditions=agent-source", main], {
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
  expect(output.match(/^ {2}ok {2}/gm)).toHaveLength(6);
  expect(output.match(/receipt valid/g)).toHaveLength(4);
  expect(output.match(/gamma valid/g)).toHaveLength(2);
  expect(() => process.kill(-(child.pid ?? 0), 0)).toThrow("ESRCH");
  expect(await readdir(folder)).toEqual([]);
}, 100_000);
