import { execFile } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "packed-pages-"));
afterAll(() => rmSync(folder, { recursive: true }));
const run = promisify(execFile);

/** The pnpm that runs the tests, else one that npm fetches. */
const runningPnpm = process.env["npm_execpath"] ?? "";
const [program = "", ...first] = runningPnpm.endsWith("pnpm")
  ? [runningPnpm]
  : ["npx", "-y", "pnpm@12"];

it("finds every page in the packed tarball of the relay, in an empty folder", async () => {
  const pack = ["--filter", "@agent/relay", "pack", "--pack-destination", folder];
  await run(program, [...first, ...pack], { cwd: root });
  const [tarball = ""] = globSync("*.tgz", { cwd: folder });
  await run("tar", ["-xzf", tarball], { cwd: folder });
  // The sources are in the tarball as well, at the same depth as what is built from them.
  const script =
    'import { getBuiltAssets } from "./package/src/console/assets.ts"; console.log(JSON.stringify([...getBuiltAssets().keys()]));';
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
  });
  const paths = (JSON.parse(stdout) as string[]).map((path) => path.replace(/-[\w-]{8}\./, "-*."));
  expect(paths.toSorted()).toEqual([
    "agent-verify.html",
    "console/assets/home-*.js",
    "console/assets/log-*.css",
    "console/assets/log-*.js",
    "console/assets/style-*.css",
    "console/assets/verify-*.js",
    "console/icon.svg",
    "log.html",
    "verify.html",
  ]);
}, 120_000);
