import { toBase64 } from "@agent/crypto";
import { expect, test } from "vitest";
import { MAX_PROOF_HASHES } from "../tree/verify-proof.ts";
import { formatProofFile, parseProofFile } from "./proof-file.ts";

const hash = new Uint8Array(32).fill(7);
const checkpoint = "origin\n1\nroot\n\n\u2014 origin key\n";
const file = { entry: new Uint8Array([1, 2]), index: 3, proof: [hash, hash], checkpoint };
const longest = Array.from({ length: MAX_PROOF_HASHES }, () => hash);

test.each([
  ["with its entry", file],
  ["without its entry", { ...file, entry: null }],
  ["of the only entry, whose path is empty", { ...file, index: 0, proof: [] }],
  ["with as many hashes as a path can have", { ...file, proof: longest }],
])("a proof file %s is read as it was written", (_, given) => {
  expect(parseProofFile(formatProofFile(given))).toEqual({ ok: true, ...given });
});

test("a proof file is text in the lines of its format", () => {
  const lines = ["c2sp.org/tlog-proof@v1", "extra AQI=", "index 3", toBase64(hash), toBase64(hash)];
  expect(formatProofFile(file)).toBe(`${lines.join("\n")}\n\n${checkpoint}`);
});

const text = formatProofFile(file);
test.each([
  ["of another version", text.replace("@v1", "@v2")],
  ["without a first line", text.slice(text.indexOf("\n") + 1)],
  ["with an entry that is no base64", text.replace("AQI=", "A?")],
  ["without its index", text.replace("index 3\n", "")],
  ["with an index under another name", text.replace("index 3", "place 3")],
  ["with an index that is not a whole number", text.replace("index 3", "index 3.5")],
  ["with a hash that is too short", text.replace(toBase64(hash), "AQI=")],
  [
    "with a hash more than a path can have",
    formatProofFile({ ...file, proof: [...longest, hash] }),
  ],
  ["without a checkpoint", text.slice(0, text.indexOf("\n\n"))],
])("a proof file %s is refused", (_, given) => {
  expect(parseProofFile(given)).toEqual({ ok: false, code: "log.malformed" });
});
