import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifyReceipt } from "@agent/receipts";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const text = "Agents delegate tasks. Relays settle receipts, and agents verify receipts.";
const timeout = 60_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "demo-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A separate process group, so that processes left over by the demo can be found. */
async function startDemo(input: string) {
  const path = join(folder, "text.md");
  await writeFile(path, input);
  const child = spawn(
    process.execPath,
    ["--conditions=agent-source", main, path, "--output", join(folder, "output")],
    {
      detached: true,
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  const begun = new Promise<void>((resolve) => {
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      resolve();
    });
  });
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, output }));
  });
  return { pid: child.pid ?? 0, begun, ended };
}

async function expectNothingLeft(pid: number): Promise<void> {
  expect(() => process.kill(-pid, 0)).toThrow("ESRCH");
  const left = await readdir(folder);
  expect(left.filter((name) => name.startsWith("agent-demo-"))).toEqual([]);
}

test(
  "the demo passes all checks, writes the receipt and leaves no process or folder",
  { timeout },
  async () => {
    const { pid, ended } = await startDemo(text);
    const { code, output } = await ended;
    expect([code, output]).toEqual([0, expect.stringContaining("All checks passed")]);
    expect(output).toContain("agent 2, receipt 2");
    expect(output.match(/^ {2}ok {2}/gm)).toHaveLength(12);
    const receipt = await readFile(join(folder, "output", "receipt.json"), "utf8");
    expect(verifyReceipt(receipt)).toMatchObject({ valid: true, nested: [{ valid: true }] });
    await expectNothingLeft(pid);
  },
);

test(
  "a failing demo names the failure, exits with 1 and leaves no process or folder",
  { timeout },
  async () => {
    const { pid, ended } = await startDemo("");
    const { code, output } = await ended;
    expect([code, output]).toEqual([1, expect.stringMatching(/^FAILED: .*prompt/m)]);
    await expectNothingLeft(pid);
  },
);

test("an interrupted demo ends all processes and exits with 1", { timeout }, async () => {
  const { pid, begun, ended } = await startDemo(text);
  await begun;
  process.kill(pid, "SIGINT");
  const { code, output } = await ended;
  expect([code, output]).toEqual([1, expect.stringContaining("FAILED: stopped by SIGINT")]);
  await expectNothingLeft(pid);
});
