import { expect, test } from "vitest";
import { formatCsv } from "./format-csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
  ["\t=1", "'\t=1"],
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ["a\nb", '"a\nb"'],
  [-2.5, "-2.5"],
  [null, ""],
])("the cell %j is written so that no spreadsheet reads it as a formula", (cell, written) => {
  expect(formatCsv([[cell, "x"]])).toBe(`${written},x\r\n`);
});
