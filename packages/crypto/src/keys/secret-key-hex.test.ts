import { describe, expect, test } from "vitest";
import { getPublicKey } from "#ed25519";
import { bytesToHex } from "../formats.ts";
import { parseSecretKeyHex } from "./secret-key-hex.ts";

const secretKey = Uint8Array.from({ length: 32 }, (_, i) => 0xa0 + i);
const hex = bytesToHex(secretKey);
const publicHex = bytesToHex(getPublicKey(secretKey));

describe("secret keys in hex", () => {
  test.each([
    ["64 digits", hex],
    ["64 upper-case digits", hex.toUpperCase()],
    ["128 digits with the right second half", hex + publicHex],
  ])("a secret key in hex is parsed from %s", (_, text) => {
    expect(parseSecretKeyHex(text)).toEqual({ ok: true, secretKey });
  });

  test("a secret key in hex is refused if the halves of 128 digits do not match", () => {
    expect(parseSecretKeyHex(hex + hex)).toEqual({ ok: false, code: "key.halves_mismatch" });
  });

  test.each(["", hex.slice(1), hex.slice(2), `0x${hex}`, `${hex}00`, ` ${hex}`, "g".repeat(64)])(
    "the text %j is no secret key in hex",
    (text) => {
      expect(parseSecretKeyHex(text)).toEqual({ ok: false, code: "key.malformed" });
    },
  );
});
