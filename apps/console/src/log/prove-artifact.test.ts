import { expect, test } from "vitest";
import { proveArtifact } from "./prove-artifact.ts";

const logKey = { origin: "log", id: 0, publicKey: new Uint8Array(32) } as never;

test.each([
  ["notes", "This is neither a JSON object nor 64 hex digits."],
  ["[1]", "This is neither a JSON object nor 64 hex digits."],
  [
    '{"order":{"id":9007199254740993}}',
    'The member "id" must be an integer below 2^53, or have the digits of its canonical JSON.',
  ],
  ['{"a":1,"a":2}', "It must be JSON in which no object repeats a member."],
  [`{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "It has no canonical JSON, so no log holds it."],
])("the page of the log says why it requests no proof of %s", async (text, reason) => {
  expect(await proveArtifact(text, logKey)).toEqual({ ok: false, reason });
});
