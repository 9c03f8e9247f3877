import { limits } from "@agent/wire";
import { expect, test } from "vitest";
import { keepFitting } from "./keep-fitting.ts";

const whole = limits.pageBytes;

test.each<[string, sizes: number[], kept: number[]]>([
  ["entries that fit are all kept", [10, whole - 20, 10], [0, 1, 2]],
  ["an entry that fills the answer is kept alone", [whole], [0]],
  ["short entries are kept before long ones, wherever they stand", [whole, whole, 10], [2]],
  [
    "long entries are kept in their order while there is room",
    [whole / 2, 10, whole, 10, whole / 3],
    [0, 1, 3, 4],
  ],
  [
    "equal entries beyond the answer are left out from the end",
    [whole / 2, whole / 2, whole / 2],
    [0, 1],
  ],
  ["a list without entries stays empty", [], []],
])("H28: of a list without pages, %s", (_, sizes, kept) => {
  const entries = sizes.map((size, index) => ({ index, text: "x".repeat(size) }));
  expect(keepFitting(entries, ({ text }) => text).map(({ index }) => index)).toEqual(kept);
});

test("H28: a character counts with all its bytes", () => {
  const texts = ["é".repeat(whole / 2), "a"];
  expect(keepFitting(texts, (text) => text)).toEqual(["a"]);
});
