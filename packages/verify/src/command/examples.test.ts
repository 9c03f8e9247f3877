import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Example, examples } from "../../test/examples.ts";
import { runCommand } from "./run-command.node.ts";

const readmePath = fileURLToPath(new URL("../../README.md", import.meta.url));
const START =
  "<!-- examples: written by src/command/examples.test.ts (unit packages/verify -u) -->\n";
const END = "<!-- end of examples -->\n";

/** Runs `agent-verify` for one example and returns its output and exit code. */
async function run({ text, options }: Example, ...more: string[]) {
  let out = "";
  const exitCode = await runCommand([...options, ...more, "FILE"], {
    read: async () => Promise.resolve(new TextEncoder().encode(text)),
    digest: () => Promise.reject(new Error("no file was named")),
    out: (line) => (out += line),
    err: (line) => (out += line),
    now: () => 0,
    version: "",
  });
  return { exitCode, lines: out.trimEnd().split("\n") };
}

/** The claim is every line before the one with the kind and the outcome. */
async function row(example: Example): Promise<string[]> {
  const { exitCode, lines } = await run(example);
  const index = lines.findIndex((line) => /^ {2}[a-z ]+: (valid|unanchored|refused)/.test(line));
  const claim = lines.slice(0, index).map((line) => line.trim());
  const verdict = (lines[index] ?? "").replace(/^ *[a-z ]+: /, "");
  return [example.title, claim.join("<br>"), verdict, String(exitCode)];
}

/** Formats a table like the formatter. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0));
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(width(column), fill)).join(" | ")} |\n`;
  const [head = [], ...body] = rows;
  return [
    line(head, " "),
    line(
      head.map(() => ""),
      "-",
    ),
    ...body.map((cells) => line(cells, " ")),
  ].join("");
}

test("D5: the README shows the first lines, the verdict and the exit code of each example", async () => {
  const rows = await Promise.all(examples.map(row));
  const table = tableOf([["the file", "first lines", "verdict", "exit code"], ...rows]);
  const readme = readFileSync(readmePath, "utf8");
  const [before = "", rest = ""] = readme.split(START);
  const [, after = ""] = rest.split(END);
  await expect(`${before}${START}\n${table}\n${END}${after}`).toMatchFileSnapshot(readmePath);
});

test("D5: the examples have the verdicts that an auditor expects", async () => {
  const ends = await Promise.all(examples.map(async (example) => (await row(example)).slice(2)));
  expect(Object.fromEntries(examples.map(({ title }, index) => [title, ends[index]]))).toEqual({
    "the relay's key is named": ["valid", "0"],
    "no key is named": ["unanchored", "3"],
    "another relay's key is named": ["refused, artifact.key_unbound", "1"],
    reformatted: [
      "refused, bundle.not_canonical: reformatted, its members are those that were signed, its text is not: ask for the file as it came",
      "1",
    ],
    "made after its texts were erased": ["refused, bundle.erased", "1"],
    "signed with a key that its agent had left": ["refused, bundle.key_not_in_force", "1"],
    "of a relay that has changed its key, its former key is named": ["valid", "0"],
    "two tasks mixed by the relay": ["refused, receipt.task_mismatch", "1"],
    edited: ["refused, bundle.signature_invalid", "1"],
    "a no-show record, its relay's key is named": ["valid", "0"],
    "a no-show record, no key is named": ["unanchored", "3"],
    "a settlement record, no key is named": ["unanchored", "3"],
  });
});
