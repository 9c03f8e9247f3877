import { describe, expect, test } from "vitest";
import { bytesToHex, fromBase64Url, toBase64Url } from "./formats.ts";
import { openSealedKey, sealKey } from "./keys/seal.node.ts";

const secretKey = Uint8Array.from({ length: 32 }, (_, i) => 0xa0 + i);
const text = await sealKey(secretKey, "pass phrase ü");
const members = JSON.parse(text) as Record<string, string>;
const withMember = (name: string, value: unknown) => JSON.stringify({ ...members, [name]: value });

describe("sealed keys", () => {
  test("a sealed key opens with its passphrase", async () => {
    expect(await openSealedKey(text, "pass phrase ü")).toEqual({ ok: true, secretKey });
  });

  test("a sealed key states its parameters in one line that does not contain the key", () => {
    expect(text).not.toMatch(/\n/);
    expect(text).not.toContain(bytesToHex(secretKey));
    expect(text).not.toContain(toBase64Url(secretKey));
    expect(members).toMatchObject({
      format: "agent-sealed-key-v1",
      cipher: "aes-256-gcm",
      kdf: "pbkdf2-sha256",
      iterations: 600_000,
    });
    expect(fromBase64Url(members["salt"]!)).toHaveLength(16);
    expect(fromBase64Url(members["nonce"]!)).toHaveLength(12);
  });

  test("a sealed key has a new salt and nonce each time", async () => {
    const again = JSON.parse(await sealKey(secretKey, "pass phrase ü")) as typeof members;
    expect(again["salt"]).not.toBe(members["salt"]);
    expect(again["nonce"]).not.toBe(members["nonce"]);
    expect(again["sealed"]).not.toBe(members["sealed"]);
  });

  const otherBit = (name: string) => {
    const bytes = fromBase64Url(members[name]!);
    return withMember(name, toBase64Url(bytes.with(0, bytes[0]! ^ 1)));
  };

  test.each([
    ["another passphrase", text, "pass phrase u"],
    ["an empty passphrase", text, ""],
    ["a changed ciphertext", otherBit("sealed"), "pass phrase ü"],
    ["a changed salt", otherBit("salt"), "pass phrase ü"],
    ["a changed nonce", otherBit("nonce"), "pass phrase ü"],
  ])("a sealed key does not open with %s", async (_, sealed, passphrase) => {
    expect(await openSealedKey(sealed, passphrase)).toEqual({
      ok: false,
      code: "key.passphrase_wrong",
    });
  });

  test.each([
    ["an empty text", ""],
    ["plain hex", bytesToHex(secretKey)],
    ["null", "null"],
    ["a cut text", text.slice(0, -2)],
    ["fewer rounds", withMember("iterations", 1)],
    ["endless rounds", withMember("iterations", 1e15)],
    ["another format", withMember("format", "agent-sealed-key-v0")],
    ["another cipher", withMember("cipher", "aes-256-ctr")],
    ["an unknown member", withMember("hint", "x")],
    ["a salt that is no text", withMember("salt", null)],
    ["a short salt", withMember("salt", "AA")],
    ["a long nonce", withMember("nonce", "A".repeat(20))],
    ["a cut tag", withMember("sealed", members["sealed"]!.slice(0, -4))],
    ["a padded ciphertext", withMember("sealed", `${members["sealed"]}=`)],
  ])("a sealed key is refused as malformed: %s", async (_, sealed) => {
    expect(await openSealedKey(sealed, "pass phrase ü")).toEqual({
      ok: false,
      code: "key.malformed",
    });
  });

  test("a key is not sealed without a passphrase or with another length than 32 bytes", async () => {
    await expect(sealKey(secretKey, "")).rejects.toThrow(RangeError);
    await expect(sealKey(new Uint8Array(64), "x")).rejects.toThrow(RangeError);
  });
});
