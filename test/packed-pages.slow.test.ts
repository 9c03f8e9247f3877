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

/** The pnpm that runs the tests, or otherwise one that npm fetches. */
const runningPnpm = process.env["npm_execpath"] ?? "";
const [program = "", ...first] = runningPnpm.endsWith("pnpm")
  ? [runningPnpm]
  : ["npx", "-y", "pnpm@12"];

it("the packed tarball of the relay has every page, in an empty folder", async () => {
  const pack = ["--filter", "@agent/relay", "pack", "--pack-destination", folder];
  await run(program, [...first, ...pack], { cwd: root });
  const [tarball = ""] = globSync("*.tgz", { cwd: folder });
  await run("tar", ["-xzf", tarball], { cwd: folder });
  // The tarball also contains the sources, at the same depth as the files built from them.
  const script =
    'import { getBuiltAssets } from "./package/src/console/assets.ts"; console.log(JSON.stringify([...getBuiltAssets().keys()]));';
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
  });
  const paths = (JSON.parse(stdout) as string[]).map((path) => path.replace(/-[\w-]{8}\./, "-*."));
  expect(paths.toSorted()).toEqual([
    "agent-verify.html",
    "console.html",
    "console/assets/console-*.css",
    "console/assets/console-*.js",
    "console/assets/dist-*.js",
    "console/assets/draw-chart-*.css",
    "console/assets/draw-chart-*.js",
    "console/assets/fact-list-*.js",
    "console/assets/home-*.js",
    "console/assets/later-pages-*.js",
    "console/assets/line-chart-*.js",
    "console/assets/load-later-*.js",
    "console/assets/log-*.css",
    "console/assets/log-*.js",
    "console/assets/me-*.css",
    "console/assets/me-*.js",
    "console/assets/preload-helper-*.js",
    "console/assets/replay-*.js",
    "console/assets/replayed-routing-*.js",
    "console/assets/save-file-*.js",
    "console/assets/state-word-*.js",
    "console/assets/style-*.css",
    "console/assets/subject-links-*.js",
    "console/assets/task-page-*.js",
    "console/assets/uuid-v7-*.js",
    "console/assets/verified-evidence-*.js",
    "console/assets/verify-*.js",
    "console/icon.svg",
    "console/me.html",
    "log.html",
    "verify.html",
  ]);
}, 120_000);
