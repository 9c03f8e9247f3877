import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { listPageFiles } from "./list-page-files.ts";

const folder = new URL("../apps/relay/assets/console/", import.meta.url).pathname;

describe("the files that a page loads", () => {
  const files = new Map([
    ["a.html", `<script src="./console/assets/a-1.js"></script><link href="./console/a-1.css">`],
    ["console/b.html", `<script src="../console/assets/b-1.js"></script><link href="../icon.svg">`],
    ["console/icon.svg", ""],
    ["console/a-1.css", ""],
    ["console/assets/a-1.js", `import{x as y}from"./shared-1.js";import("./late-1.js");x("./b")`],
    ["console/assets/b-1.js", `var f=1;import"./shared-1.js";export{z}from"./third-1.js"`],
    ["console/assets/shared-1.js", ""],
    ["console/assets/third-1.js", `import{x}from"./shared-1.js"`],
    ["console/assets/late-1.js", `import{x}from"./third-1.js"`],
    ["console/assets/late-1.css", ""],
  ]);
  const inAssets = (...names: string[]) => names.map((name) => `console/assets/${name}`);

  test.each([
    ["a.html", [], ["a.html", "console/a-1.css", ...inAssets("a-1.js", "shared-1.js")]],
    [
      "console/b.html",
      [],
      [...inAssets("b-1.js", "shared-1.js", "third-1.js"), "console/b.html", "console/icon.svg"],
    ],
    [
      "a.html",
      ["late"],
      [
        "a.html",
        "console/a-1.css",
        ...inAssets("a-1.js", "late-1.css", "late-1.js", "shared-1.js", "third-1.js"),
      ],
    ],
  ])(
    "the files of %s, later %j, are its own and those that they import",
    (page, later, expected) => {
      expect(listPageFiles(files, page, later)).toEqual(expected);
    },
  );

  test("the files that a page loads cannot be listed where one is missing", () => {
    expect(() => listPageFiles(files, "c.html")).toThrow("c.html is not built");
    expect(() => listPageFiles(files, "a.html", ["other"])).toThrow("other is not built");
  });
});

/** Reads the built files. */
function readBuilt(): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return new Map(
    paths
      .filter((path) => /\.(html|js|css|svg)$/.test(path))
      .map((path) => [path.split(sep).join("/"), readFileSync(join(folder, path), "utf8")]),
  );
}

/**
 * The design of the pages allows 60 kB for /verify, which has grown by proofs of the log, of inspections and of
 * keys' owners, and 100 kB for a task's page, which also loads the verifier and the charts. These limits keep
 * both from growing further. Of /verify, the rules of the artifacts are 36 kB, its own texts 11, Ed25519 6,
 * Preact 5.5, and hashes, base58 and schemas the rest.
 */
test.each([
  ["verify.html", [], 66_000],
  ["log.html", [], 60_000],
  ["console.html", ["draw-chart"], 70_000],
  ["console.html", ["draw-chart", "later-pages"], 100_000],
  ["console.html", ["draw-chart", "task-page"], 100_000],
  ["console.html", ["draw-chart", "task-page", "verified-evidence", "replayed-routing"], 140_000],
  ["console/me.html", [], 70_000],
] as const)("%s loads, with later %j, at most %i bytes", (page, later, limit) => {
  const files = readBuilt();
  const sum = listPageFiles(files, page, later)
    .map((path) => gzipSync(files.get(path) ?? "", { level: 9 }).length)
    .reduce((total, size) => total + size, 0);
  expect(sum).toBeLessThanOrEqual(limit);
  // If its scripts were not found, the few bytes of the page itself would pass.
  expect(sum).toBeGreaterThan(20_000);
});
