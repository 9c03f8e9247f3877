import { makeSafe } from "@agent/command-line";
import { describe, expect, test } from "vitest";
import { formatBlocks, type Table } from "./format-blocks.ts";

const ID = "019b7d21-53eb-7ccd-926c-3badff397897";
const table: Table = {
  columns: [
    { title: "task", isId: true },
    { title: "amount", align: "right" },
    { title: "reason", isFlexible: true },
  ],
  rows: [
    [ID, "2.00", "no such file: /var/lib/data/somewhere"],
    [ID, { text: "12.50", tone: "bad" }, ""],
  ],
  empty: "no tasks",
};
const plain = { width: undefined, hasColor: false };

describe("tables", () => {
  test("a table that is written to a pipe keeps every character", () => {
    expect(formatBlocks([table], plain).split("\n")).toEqual([
      "task                                  amount  reason",
      `${ID}    2.00  no such file: /var/lib/data/somewhere`,
      `${ID}   12.50`,
    ]);
  });

  test.each([120, 80, 60, 45, 34])("a table fits a terminal of %d columns", (width) => {
    const lines = formatBlocks([table], { width, hasColor: false }).split("\n");
    for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(width);
    expect(lines[1]).toContain("ff397897");
  });

  test("a table without rows is replaced by a line that says what there is none of", () => {
    expect(formatBlocks([{ ...table, rows: [] }], plain)).toBe("no tasks");
  });

  test("a table has colours only if they are requested", () => {
    expect(formatBlocks([table], plain)).not.toContain("\u001b");
    expect(formatBlocks([table], { width: 80, hasColor: true })).toContain("\u001b[31m");
  });
});

test.each([
  ["a\u001b[2Jb", "a<001b>[2Jb"],
  ["tab\tline\n", "tab<0009>line<000a>"],
  ["\u202egpj.exe", "<202e>gpj.exe"],
  ["zero\u200bwidth", "zero<200b>width"],
  ["Ä ö 中 🙂", "Ä ö 中 🙂"],
])("OP10: a text of others cannot control the terminal: %j", (text, safe) => {
  expect(makeSafe(text)).toBe(safe);
  expect(formatBlocks([text], { width: 80, hasColor: true })).toBe(safe);
});
