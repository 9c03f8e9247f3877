import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Lists the numbers in the first column of all tables. */
function listNumbers(page: string): string[] {
  return [...page.matchAll(/^\|\s*([A-Z]{1,2}[1-9]\d?)\s*\|/gm)].flatMap(([, id = ""]) => id);
}

/** Lists the numbers with which test titles begin: `RC2 ...`, `AC4, MN5 ...` or `A1: ...`. */
function listNumbersOfTitles(source: string): string[] {
  const titles = source.matchAll(/["'`]([A-Z]{1,2}[1-9]\d?(?:(?:, | )[A-Z]{1,2}[1-9]\d?)*)[: ]/g);
  return [...titles].flatMap(([, ids = ""]) => ids.match(/[A-Z]{1,2}[1-9]\d?/g) ?? []);
}

describe("The number of a threat", () => {
  const page = listNumbers(read("docs/threats.md"));
  const tests = globSync(
    ["{apps,packages}/*/{src,test}/**/*.test.ts", "{bench,test}/**/*.test.ts"],
    {
      cwd: root,
      exclude: (path) => /^(node_modules|dist)$/.test(path),
    },
  ).filter((path) => path !== "test/threats.test.ts");
  const titles = new Set(tests.flatMap((path) => listNumbersOfTitles(read(path))));

  test("the number of a threat occurs only once in docs/threats.md", () => {
    const repeated = page.filter((id, at) => page.indexOf(id) !== at);
    expect(repeated).toEqual([]);
  });

  test("the title of some test begins with each number of a threat in docs/threats.md", () => {
    expect(page.filter((id) => !titles.has(id))).toEqual([]);
  });

  test("each number of a threat that begins the title of a test is in docs/threats.md", () => {
    expect([...titles].filter((id) => !page.includes(id))).toEqual([]);
  });

  test("the number of a threat is recognised in every form of title", () => {
    const titles = `test("RC2 a", test("AC4, MN5 b", test(\`A1: c\`, test("MN13 RC2 d", test("x402 e"`;
    expect(listNumbersOfTitles(titles)).toEqual(["RC2", "AC4", "MN5", "A1", "MN13", "RC2"]);
  });
});
