import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getPublicKey } from "#ed25519";
import { bytesToHex } from "./formats.ts";
import { readKeyFile, writeKeyFile } from "./keys/key-file.node.ts";

const secretKey = Uint8Array.from({ length: 32 }, (_, i) => 0xa0 + i);
const hex = bytesToHex(secretKey);
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "key-file-"));
  path = join(folder, "relay.key");
});

afterEach(() => rm(folder, { recursive: true }));

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

describe("key files with a passphrase", () => {
  beforeEach(() => writeKeyFile(path, secretKey, "secret"));

  test("a key file with a passphrase opens with it and does not contain the key", async () => {
    expect(await readKeyFile(path, "secret")).toEqual({ ok: true, secretKey, needsSealing: false });
    expect(await readFile(path, "utf8")).not.toContain(hex);
    expect(await modeOf(path)).toBe(0o600);
  });

  test.each([
    ["another one", "wrong", "key.passphrase_wrong"],
    ["none", undefined, "key.passphrase_missing"],
  ])("a key file with a passphrase is refused with %s", async (_, passphrase, code) => {
    expect(await readKeyFile(path, passphrase)).toEqual({ ok: false, code });
  });
});

describe("key files without a passphrase", () => {
  beforeEach(() => writeKeyFile(path, secretKey));

  test("a key file without a passphrase is hex that only its owner can read", async () => {
    expect(await readFile(path, "utf8")).toBe(`${hex}\n`);
    expect(await modeOf(path)).toBe(0o600);
    expect(await readKeyFile(path)).toEqual({ ok: true, secretKey, needsSealing: false });
  });

  test("a key file without a passphrase is reported as unsealed once there is a passphrase", async () => {
    expect(await readKeyFile(path, "secret")).toEqual({ ok: true, secretKey, needsSealing: true });
    await writeKeyFile(path, secretKey, "secret");
    expect(await readKeyFile(path, "secret")).toMatchObject({ ok: true, needsSealing: false });
    expect(await readFile(path, "utf8")).not.toContain(hex);
  });
});

describe("key files of other tools", () => {
  test("a key file of another tool may hold seed and public key", async () => {
    await writeFile(path, hex + bytesToHex(getPublicKey(secretKey)));
    expect(await readKeyFile(path)).toEqual({ ok: true, secretKey, needsSealing: false });
  });

  test.each([
    ["halves that do not belong together", hex + hex, "key.halves_mismatch"],
    ["no key", "", "key.malformed"],
    ["other JSON", "{}", "key.malformed"],
    ["half a key", hex.slice(32), "key.malformed"],
  ])("a key file of another tool is refused with %s", async (_, text, code) => {
    await writeFile(path, text);
    expect(await readKeyFile(path, "secret")).toEqual({ ok: false, code });
  });
});

test("a missing key file is refused, and other file system errors are thrown", async () => {
  expect(await readKeyFile(path)).toEqual({ ok: false, code: "key.file_missing" });
  await expect(readKeyFile(folder)).rejects.toThrow("EISDIR");
});

test("writing a key replaces a file with wider permissions and leaves no temporary file", async () => {
  await writeFile(path, "old");
  await chmod(path, 0o644);
  await writeKeyFile(path, secretKey);
  expect(await modeOf(path)).toBe(0o600);
  expect(await readdir(folder)).toEqual(["relay.key"]);
});

test("a failed write keeps the existing file and leaves no temporary file", async () => {
  await expect(writeKeyFile(folder, secretKey)).rejects.toThrow("EISDIR");
  await expect(writeKeyFile(path, new Uint8Array(31))).rejects.toThrow(RangeError);
  expect(await readdir(folder)).toEqual([]);
});
