import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { installPacked, runCommand } from "./install-packed.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "packed-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string, args: readonly string[]) =>
  runCommand(command, args, { cwd: folder });

it("agent-verify runs from the packed tarballs of its packages", async () => {
  const projects = ["packages/crypto/tsconfig.node.json", "packages/verify/tsconfig.node.json"];
  const verify = { name: "@agent/verify", folder: "packages/verify", projects };
  const tarballs = await installPacked(folder, [verify]);
  expect(tarballs.map((name) => name.replace(/-\d.*/, "")).toSorted()).toEqual(
    [
      "budget",
      "command-line",
      "credentials",
      "crypto",
      "ledger",
      "receipts",
      "routing-semiring",
      "transparency",
      "verify",
    ].map((name) => `agent-${name}`),
  );

  const command = join(folder, "node_modules/.bin/agent-verify");
  expect(lstatSync(command).isSymbolicLink()).toBe(true);
  const receipt = readFileSync(join(root, "examples/receipt.json"), "utf8");
  writeFileSync(join(folder, "receipt.json"), receipt);
  writeFileSync(join(folder, "changed.json"), receipt.replace("to 2", "to 3"));
  const { version } = JSON.parse(
    readFileSync(join(root, "packages/verify/package.json"), "utf8"),
  ) as { version: string };

  expect(await run(command, ["--version"])).toEqual({ exitCode: 0, stdout: `${version}\n` });
  const good = await run(command, ["--json", "receipt.json"]);
  expect(good.exitCode).toBe(0);
  expect(JSON.parse(good.stdout)).toMatchObject({ kind: "receipt", valid: true });
  expect((await run(command, ["changed.json"])).exitCode).toBe(1);
  expect((await run(command, ["missing.json"])).exitCode).toBe(2);
  const piped = await run("sh", ["-c", `"$0" --json < receipt.json`, command]);
  expect(JSON.parse(piped.stdout)).toMatchObject({ file: "-", valid: true });
}, 120_000);
