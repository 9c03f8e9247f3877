import { expect, test } from "vitest";
import { readActReason } from "./read-act-reason.ts";

test.each([
  [undefined, {}],
  ["", {}],
  ["a%20lost%20key", { reason: "a lost key" }],
  ["%C3%A9", { reason: "é" }],
  ["%zz", {}],
  ["a".repeat(257), {}],
])("the reason of an act is read from %j", (header, read) => {
  expect(readActReason(header)).toEqual(read);
});
