import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The numbers of the first column of each table row. */
function numbersIn(page: string): string[] {
  return [...page.matchAll(/^\|\s*([A-Z]{1,2}[1-9]\d?)\s*\|/gm)].flatMap(([, id = ""]) => id);
}

/** The numbers with which the titles of tests begin: `RC2 ...`, `AC4, MN5 ...` or `A1: ...`. */
function numbersOfTitles(source: string): string[] {
  const titles = source.matchAll(/["'`]([A-Z]{1,2}[1-9]\d?(?:(?:, | )[A-Z]{1,2}[1-9]\d?)*)[: ]/g);
  return [...titles].flatMap(([, ids = ""]) => ids.match(/[A-Z]{1,2}[1-9]\d?/g) ?? []);
}

describe("every number of a threat", () => {
  const page = numbersIn(read("docs/threats.md"));
  const tests = globSync(["{apps,packages}/*/{src,test}/**/*.test.ts", "test/*.test.ts"], {
    cwd: root,
    exclude: (path) => /^(node_modules|dist)$/.test(path),
  }).filter((path) => path !== "test/threats.test.ts");
  const titles = new Set(tests.flatMap((path) => numbersOfTitles(read(path))));

  test("stands in docs/threats.md only once", () => {
    const repeated = page.filter((id, at) => page.indexOf(id) !== at);
    expect(repeated).toEqual([]);
  });

  test("in docs/threats.md begins the title of a test", () => {
    expect(page.filter((id) => !titles.has(id))).toEqual([]);
  });

  test("at the beginning of a title stands in docs/threats.md", () => {
    expect([...titles].filter((id) => !page.includes(id))).toEqual([]);
  });

  test("is recognised in every form that titles use", () => {
    const titles = `test("RC2 a", test("AC4, MN5 b", test(\`A1: c\`, test("MN13 RC2 d", test("x402 e"`;
    expect(numbersOfTitles(titles)).toEqual(["RC2", "AC4", "MN5", "A1", "MN13", "RC2"]);
  });
});
