import { toBase64 } from "@agent/crypto";
import { expect, test } from "vitest";
import { parseCheckpoint } from "./checkpoint.ts";
import { NOTE_LIMITS, parseNote } from "./note.ts";

const root = toBase64(new Uint8Array(32).fill(9));
const line = (bytes = 68, name = "log.example") =>
  `\u2014 ${name} ${toBase64(new Uint8Array(bytes))}\n`;
const body = `log.example\n7\n${root}\n`;

test.each<[string, boolean, string]>([
  ["origin, size and root", true, `${body}\n${line()}`],
  ["the greatest size", true, `log.example\n9007199254740991\n${root}\n\n${line()}`],
  ["a size of 2^53", false, `log.example\n9007199254740992\n${root}\n\n${line()}`],
  ["a size with a leading zero", false, `log.example\n07\n${root}\n\n${line()}`],
  ["a size with a sign", false, `log.example\n+7\n${root}\n\n${line()}`],
  ["a size and more in its line", false, `log.example\n7 \n${root}\n\n${line()}`],
  ["no origin", false, `\n7\n${root}\n\n${line()}`],
  ["no size", false, `log.example\n\n${root}\n\n${line()}`],
  ["no root", false, `log.example\n7\n\n${line()}`],
  ["a root of 31 bytes", false, `log.example\n7\n${toBase64(new Uint8Array(31))}\n\n${line()}`],
  ["an extension line", false, `${body}extension\n\n${line()}`],
  ["an empty line more", false, `${body}\n\n${line()}`],
])("a checkpoint with %s is accepted: %s", (_, ok, text) => {
  expect(parseCheckpoint(text).ok).toBe(ok);
});

test.each<[string, boolean, string]>([
  ["as many signatures as are allowed", true, line().repeat(NOTE_LIMITS.maxSignatures)],
  ["one signature more", false, line().repeat(NOTE_LIMITS.maxSignatures + 1)],
  ["no signature", false, ""],
  ["a signature of one byte beside the key id", true, line(5)],
  ["a key id without a signature", false, line(4)],
  ["a valid and a malformed signature line", false, `${line()}— log.example\n`],
  ["a signature of a name with a plus", false, line(68, "log+example")],
  ["more in a signature line", false, line().replace("\n", " more\n")],
  ["something before the dash of a signature line", false, `x${line()}`],
])("a note with %s is accepted: %s", (_, ok, signatures) => {
  expect(parseNote(`${body}\n${signatures}`).ok).toBe(ok);
});

test("a note may have 64 KiB and no byte more", () => {
  const end = `\n\n${line()}`;
  const noteOf = (bytes: number) =>
    `${"x".repeat(bytes - new TextEncoder().encode(end).length)}${end}`;
  expect(parseNote(noteOf(NOTE_LIMITS.maxBytes)).ok).toBe(true);
  expect(parseNote(noteOf(NOTE_LIMITS.maxBytes + 1)).ok).toBe(false);
});
