import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROOF_LEVELS } from "./index.ts";

const document = readFileSync(new URL("../../../docs/verifying.md", import.meta.url), "utf8");

test("docs/verifying.md lists the proof levels in its table", () => {
  const rows = document.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  for (const { name, title, proves, doesNotProve } of PROOF_LEVELS) {
    expect(rows).toContainEqual(["", `${title} (\`${name}\`)`, proves, doesNotProve, ""]);
  }
});

test("every proof level has a name and a title of its own", () => {
  expect(new Set(PROOF_LEVELS.map(({ name }) => name)).size).toBe(PROOF_LEVELS.length);
  expect(new Set(PROOF_LEVELS.map(({ title }) => title)).size).toBe(PROOF_LEVELS.length);
});
