import { describe, expect, test } from "vitest";
import { parseResultReference } from "./result-reference.ts";

const sha256 = "ab".repeat(32);
const good = { uri: "https://files.example/report.pdf?v=1", sha256, bytes: 1_048_576 };
const textOf = (change: object) => JSON.stringify({ ...good, ...change });

describe("B14: a result is parsed as a reference", () => {
  test.each([
    ["with its members", textOf({})],
    [
      "in any order and with blanks",
      ` { "bytes": 1048576, "uri": "${good.uri}", "sha256": "${sha256}" } `,
    ],
  ])("B14: a reference %s is parsed", (_, text) => {
    expect(parseResultReference(text)).toEqual({ ok: true, reference: good });
  });

  test.each([
    "http://127.0.0.1:8080/a",
    "https://files.example",
    "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/a.txt",
    `https://files.example/${"a".repeat(2_048 - 22)}`,
  ])("B14: a result at %s is parsed as a reference", (uri) => {
    expect(parseResultReference(textOf({ uri }))).toMatchObject({ ok: true, reference: { uri } });
  });

  test("B14: a result that refers to an empty file is parsed as a reference", () => {
    expect(parseResultReference(textOf({ bytes: 0 }))).toMatchObject({ ok: true });
  });
});

describe("B14: an ordinary result is not a reference:", () => {
  test.each([
    ["plain text", "the sum is 3"],
    ["no text", ""],
    ["a number", "3"],
    ["null", "null"],
    ["a list", `[${textOf({})}]`],
    ["JSON that lacks a member", JSON.stringify({ uri: good.uri, sha256 })],
    ["JSON with one more member", textOf({ title: "report" })],
    ["JSON with another member", JSON.stringify({ uri: good.uri, sha256, size: 1 })],
    ["JSON that names a member twice", `${textOf({}).slice(0, -1)},"uri":"https://b.example/"}`],
    ["text after a reference", `${textOf({})} and more`],
    ["a member of every object in the place of one", `{"uri":"a","sha256":"b","toString":1}`],
  ])("B14: a result is not a reference if it is %s", (_, text) => {
    expect(parseResultReference(text)).toEqual({ ok: false, code: "reference.none" });
  });
});

describe("B14: a reference is malformed", () => {
  test.each<[string, object]>([
    ["with a script for an address", { uri: "javascript:alert(1)" }],
    ["with its own data for an address", { uri: "data:text/plain,a" }],
    ["with a local file for an address", { uri: "file:///etc/passwd" }],
    ["with a relative address", { uri: "/report.pdf" }],
    ["with credentials in its address", { uri: "https://user:secret@files.example/" }],
    ["with a blank in its address", { uri: "https://files.example/a b" }],
    ["with a backslash in its address", { uri: "https://files.example\\@evil.example/" }],
    ["with an address of 2049 characters", { uri: `https://a.example/${"a".repeat(2_031)}` }],
    ["without an address", { uri: "" }],
    ["with an address that is no text", { uri: 1 }],
    ["with a hash in capitals", { sha256: sha256.toUpperCase() }],
    ["with a short hash", { sha256: "ab" }],
    ["with a negative length", { bytes: -1 }],
    ["with half a byte", { bytes: 0.5 }],
    ["with a length beyond 2^53 - 1", { bytes: 2 ** 53 }],
    ["with a length in text", { bytes: "1" }],
  ])("B14: a reference is malformed %s", (_, change) => {
    expect(parseResultReference(textOf(change))).toEqual({
      ok: false,
      code: "reference.malformed",
    });
  });
});
