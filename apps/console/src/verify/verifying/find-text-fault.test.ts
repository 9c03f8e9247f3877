import { expect, test } from "vitest";
import { findJsonFault } from "./find-text-fault.ts";

const rule = "must be an integer below 2^53, or have the digits of its canonical JSON.";

test.each([
  ["a plain name", "order_id", `The member "order_id" ${rule}`],
  ["a sentence", 'x" is signed. It', String.raw`The member "x\" is signed. It" ${rule}`],
  ["a name that is read backwards", "a\u202eb", String.raw`The member "a\u{202e}b" ${rule}`],
  ["a long name", "n".repeat(1_000), `The member "${"n".repeat(60)}…" ${rule}`],
])("the fault of a file with %s of a member is one sentence of the page", (_, name, reason) => {
  const text = JSON.stringify({ [name]: 0 }).replace(":0", ":9007199254740993");
  expect(findJsonFault(text)).toEqual({ line: null, byte: null, reason });
});

test.each([
  ["a letter", "Dear Sir, here is your receipt.", 1, 1],
  ["a byte order mark", "\ufeff{}", 1, 1],
  ["a word that is no value", '{"ä": 1,\n "b": NaN}', 2, 17],
  ["an end in the middle", '{"a": [1,', 1, 10],
  ["a comma too many", '{"a": 1,}', 1, 9],
])("the fault in %s that is not JSON is found by its line and its byte", (_, text, line, byte) => {
  const reason = "Here the text stops being JSON.";
  expect(findJsonFault(text)).toEqual({ line, byte, reason });
});
