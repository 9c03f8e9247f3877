import { execFile } from "node:child_process";
import {
  globSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "packed-"));
afterAll(() => rmSync(folder, { recursive: true }));

// The Node.js of this run comes first, because the system's may be older than the packages require.
const env = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
};

async function run(command: string, args: readonly string[], cwd = folder) {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env });
    return { exitCode: 0, stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== "number") throw error;
    return { exitCode: code, stdout: stdout + stderr };
  }
}

/** Runs a step of the preparation, which must succeed. */
async function runOrThrow(command: string, args: readonly string[], cwd = folder): Promise<void> {
  const { exitCode, stdout } = await run(command, args, cwd);
  if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}`);
}

/** The pnpm that runs the tests, else one that npm fetches. */
const runningPnpm = process.env["npm_execpath"] ?? "";
const pnpm = runningPnpm.endsWith("pnpm") ? [runningPnpm] : ["npx", "-y", "pnpm@12"];

// They are packed as well, so that the installation needs no registry.
const dependencies = [
  "packages/crypto/node_modules/@noble/hashes",
  "packages/crypto/node_modules/bs58",
  join(realpathSync(join(root, "packages/crypto/node_modules/bs58")), "../base-x"),
  "packages/crypto/node_modules/tweetnacl",
  "packages/verify/node_modules/valibot",
];

it("runs agent-verify from the packed tarballs of its packages", async () => {
  const projects = ["packages/crypto/tsconfig.node.json", "packages/verify/tsconfig.node.json"];
  await runOrThrow(join(root, "node_modules/.bin/tsc"), ["-b", ...projects], root);
  const [program = "", ...first] = pnpm;
  const to = ["--pack-destination", folder];
  await runOrThrow(
    program,
    [...first, "-r", "--filter-prod", "@agent/verify...", "pack", ...to],
    root,
  );
  const tarballs = globSync("*.tgz", { cwd: folder });
  expect(tarballs.map((name) => name.replace(/-\d.*/, "")).toSorted()).toEqual(
    [
      "budget",
      "credentials",
      "crypto",
      "ledger",
      "receipts",
      "routing-semiring",
      "transparency",
      "verify",
    ].map((name) => `agent-${name}`),
  );
  const folders = dependencies.map((path) => realpathSync(resolve(root, path)));
  await runOrThrow("npm", ["pack", "--ignore-scripts", ...to, ...folders]);
  writeFileSync(join(folder, "package.json"), "{}");
  const everything = globSync("*.tgz", { cwd: folder }).map((name) => `./${name}`);
  await runOrThrow("npm", ["install", "--offline", "--no-audit", "--no-fund", ...everything]);

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
