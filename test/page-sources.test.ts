import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../apps/relay/assets/console/", import.meta.url).pathname;
// The copy of /verify for readers without a relay has its script inline; its policy names the script's hash.
const SINGLE_FILE = "agent-verify.html";
const read = (pattern: string) =>
  globSync(pattern, { cwd: folder })
    .filter((path) => path !== SINGLE_FILE)
    .map((path) => [path, readFileSync(`${folder}${path}`, "utf8")] as const);

const FORBIDDEN_IN_PAGES = [
  ["a script inside", /<script(?![^>]*\bsrc=)[^>]*>/i],
  ["a style inside", /<style|\sstyle=/i],
  ["a handler as an attribute", /\son\w+=/i],
  ["a file of another origin", /(?:src|href)=["']?(?:https?:)?\/\//i],
] as const;

const FORBIDDEN_IN_SCRIPTS = [
  ["code from text", /\beval\(|\bnew Function\(|\bFunction\(["'`]/],
  ["a timer with text", /\bset(?:Timeout|Interval)\(["'`]/],
  // Preact itself can set markup, but no page uses that.
  ["markup from text", /\bdangerouslySetInnerHTML["']?\s*:|insertAdjacentHTML|document\.write\b/],
  ["storage that other pages read", /\bsessionStorage\b|document\.cookie/],
] as const;

test.each(FORBIDDEN_IN_PAGES)("no built page has %s", (_, pattern) => {
  const pages = read("**/*.html");
  expect(pages.length).toBeGreaterThanOrEqual(4);
  expect(pages.filter(([, text]) => pattern.test(text)).map(([path]) => path)).toEqual([]);
});

test.each(FORBIDDEN_IN_SCRIPTS)("no built script has %s", (_, pattern) => {
  const scripts = read("**/*.js");
  expect(scripts.length).toBeGreaterThanOrEqual(8);
  const found = scripts.flatMap(([path, text]) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${path}: ${text.slice(at, at + 60)}`];
  });
  expect(found).toEqual([]);
});

test("only the page /verify stores anything under its origin, and only if the reader allows it", () => {
  const users = read("**/*.js").filter(([, text]) => text.includes("localStorage"));
  expect(users.map(([path]) => path.replace(/-[\w-]{8}\.js$/, ""))).toEqual([
    "console/assets/verify",
  ]);
});

test.each([
  ["a script inside", FORBIDDEN_IN_PAGES[0][1], "<script>alert(1)</script>", true],
  ["a script beside", FORBIDDEN_IN_PAGES[0][1], `<script type="module" src="./a.js">`, false],
  ["a style as an attribute", FORBIDDEN_IN_PAGES[1][1], `<p style="color:red">`, true],
  ["a handler", FORBIDDEN_IN_PAGES[2][1], `<img src=x onerror=alert(1)>`, true],
  ["an address without a scheme", FORBIDDEN_IN_PAGES[3][1], `<script src="//evil.example">`, true],
  ["markup", FORBIDDEN_IN_SCRIPTS[2][1], "dangerouslySetInnerHTML:{__html:a}", true],
  ["no markup", FORBIDDEN_IN_SCRIPTS[2][1], "a.dangerouslySetInnerHTML", false],
])("the search for forbidden text finds %s: %s in %s is %s", (_, pattern, text, isFound) => {
  expect(pattern.test(text)).toBe(isFound);
});
