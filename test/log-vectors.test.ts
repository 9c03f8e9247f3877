import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkLogVectors, type LogVectors } from "./check-log-vectors.ts";

const file = new URL("../vectors/own/transparency.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as LogVectors;
const results = await checkLogVectors(vectors);

test.each(results)("the log vector $title has its verdict", ({ found, expected }) => {
  expect(found).toEqual(expected);
});

test("every section of the log vectors has a check", () => {
  const sections = Object.values(vectors).filter(Array.isArray) as (readonly unknown[])[];
  const cases = sections.reduce((sum, section) => sum + section.length, 0);
  expect(results.length).toBeGreaterThan(cases);
});
