import { expect, test } from "vitest";
import { isLaterGeneration } from "./log-generation.ts";

test.each([
  ["log.example", "log.example/1790000000", true],
  ["log.example/1790000000", "log.example/1790000001", true],
  ["log.example/9", "log.example/10", true],
  ["log.example/1790000000", "log.example/1790000000", false],
  ["log.example/1790000001", "log.example/1790000000", false],
  ["log.example/1790000000", "log.example", false],
  ["log.example", "log.example", false],
  ["log.example", "other.example/1790000000", false],
  ["log.example/1", "other.example/2", false],
  ["log.example", "log.example/x", false],
  ["log.example", "log.example/1000000000000000", false],
])("after %s comes %s as a later generation: %s", (before, origin, isLater) => {
  expect(isLaterGeneration(before, origin)).toBe(isLater);
});
