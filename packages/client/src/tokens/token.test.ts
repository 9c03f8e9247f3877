import {
  bytesToHex,
  fromBase64Url,
  generateKeyPair,
  publicKeyToDidKey,
  toBase64Url,
  utf8ToBytes,
} from "@agent/crypto";
import { CompactSign, exportJWK, generateKeyPair as generateJoseKeyPair, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { looksLikeToken } from "./parse-token.ts";
import { checkTokenClaims, verifyToken, mintToken, peekToken } from "./token.ts";

const NOW = 1_760_000_000_000;
const SECOND = NOW / 1_000;
const device = generateKeyPair(new Uint8Array(32).fill(1));
const stranger = generateKeyPair(new Uint8Array(32).fill(2));
const audience = publicKeyToDidKey(generateKeyPair(new Uint8Array(32).fill(3)).publicKey);
const expected = { publicKey: bytesToHex(device.publicKey), audience, now: NOW };

const header = { alg: "EdDSA", typ: "agent-token+jwt", kid: "device-1" };
const claims = {
  iss: "agent-1",
  sub: "agent-1",
  aud: audience,
  scope: "task:submit task:read",
  iat: SECOND,
  exp: SECOND + 300,
  jti: "token-1",
};

type Members = Record<string, unknown>;

/** Signs a token with the header and claims of a test. */
async function signed(
  change: { header?: Members; claims?: Members | string },
  by = device,
): Promise<string> {
  const jwk = {
    kty: "OKP",
    crv: "Ed25519",
    x: toBase64Url(by.publicKey),
    d: toBase64Url(by.secretKey),
  };
  const payload =
    typeof change.claims === "string"
      ? change.claims
      : JSON.stringify({ ...claims, ...change.claims });
  return new CompactSign(utf8ToBytes(payload))
    .setProtectedHeader({ ...header, ...change.header })
    .sign(await importJWK(jwk, "EdDSA"));
}

/** Returns the other last characters that a lenient decoder maps to the same bytes. */
function respelled(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1];
}

const mint = (change: Partial<Parameters<typeof mintToken>[0]> = {}) =>
  mintToken({
    agentId: "agent-1",
    deviceId: "device-1",
    secretKey: device.secretKey,
    audience,
    scope: ["task:submit", "task:read"],
    now: NOW,
    jti: "token-1",
    ...change,
  });

describe("a minted token", () => {
  test("mintToken returns a compact JWS whose claims verifyToken returns", async () => {
    const token = await mint();
    expect(looksLikeToken(token)).toBe(true);
    expect(peekToken(token)).toEqual({ ok: true, deviceId: "device-1", agentId: "agent-1" });
    expect(await verifyToken(token, expected)).toEqual({
      ok: true,
      claims: {
        agentId: "agent-1",
        deviceId: "device-1",
        scopes: ["task:submit", "task:read"],
        issuedAt: NOW,
        expiresAt: NOW + 300_000,
        jti: "token-1",
      },
    });
  });

  test("mintToken signs with a key that cannot be exported, such as that of a browser", async () => {
    const { publicKey, privateKey } = await generateJoseKeyPair("Ed25519", { extractable: false });
    const { x = "" } = await exportJWK(publicKey);
    const kept = { ...expected, publicKey: bytesToHex(fromBase64Url(x)) };
    expect(await verifyToken(await mint({ secretKey: privateKey }), kept)).toMatchObject({
      ok: true,
    });
    await expect(exportJWK(privateKey)).rejects.toThrow("extractable");
  });

  test("mintToken accepts a lifetime from 1 s to 300 s", async () => {
    const short = await mint({ lifetimeMs: 60_000 });
    expect(await verifyToken(short, { ...expected, now: NOW + 59_999 })).toMatchObject({
      ok: true,
    });
    expect(await verifyToken(short, { ...expected, now: NOW + 60_000 })).toEqual({
      ok: false,
      code: "auth.expired_token",
    });
    await expect(mint({ lifetimeMs: 300_001 })).rejects.toThrow(RangeError);
    await expect(mint({ lifetimeMs: 999 })).rejects.toThrow(RangeError);
  });
});

describe("a valid token", () => {
  test.each([
    ["with alg Ed25519", {}, { header: { alg: "Ed25519" } }],
    ["issued 300 s ago by a clock that is behind", { now: NOW + 299_999 }, {}],
    ["issued 300 s ahead by a clock that is fast", { now: NOW - 300_000 }, {}],
    [
      "with times that are no whole seconds",
      {},
      { claims: { iat: SECOND - 0.5, exp: SECOND + 9.5 } },
    ],
    ["without a scope", {}, { claims: { scope: "" } }],
  ])("verifyToken accepts a token %s", async (_, verifier, change) => {
    expect(await verifyToken(await signed(change), { ...expected, ...verifier })).toMatchObject({
      ok: true,
    });
  });
});

describe("a malformed token", () => {
  test.each([
    ["a wrong typ", { header: { typ: "JWT" } }],
    ["no kid", { header: { kid: undefined } }],
    ["an empty kid", { header: { kid: "" } }],
    ["a kid of 257 characters", { header: { kid: "x".repeat(257) } }],
    ["iss other than sub", { claims: { iss: "agent-2" } }],
    ["no sub", { claims: { sub: undefined } }],
    ["no audience", { claims: { aud: undefined } }],
    ["several audiences", { claims: { aud: [audience, "did:key:z6Mk"] } }],
    ["no scope", { claims: { scope: undefined } }],
    ["a scope list", { claims: { scope: ["task:read"] } }],
    ["no iat", { claims: { iat: undefined } }],
    ["a textual iat", { claims: { iat: String(SECOND) } }],
    ["no exp", { claims: { exp: undefined } }],
    [
      "exp that is not finite",
      { claims: JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e999') },
    ],
    ["no jti", { claims: { jti: undefined } }],
    ["a lifetime of 301 s", { claims: { exp: SECOND + 301 } }],
    ["iat 301 s ahead", { claims: { iat: SECOND + 301, exp: SECOND + 302 } }],
    ["nbf in the future", { claims: { nbf: SECOND + 1 } }],
    ["a payload that is a list", { claims: "[]" }],
    ["a payload without JSON", { claims: "agent-1" }],
    ["more than 4096 characters", { claims: { scope: "x".repeat(4_096) } }],
  ])("verifyToken refuses a token with %s as malformed", async (_, change) => {
    expect(await verifyToken(await signed(change), expected)).toEqual({
      ok: false,
      code: "auth.malformed_token",
    });
  });

  test("verifyToken refuses a token issued more than 300 s ago as malformed, even before its exp", async () => {
    const token = await signed({ claims: { iat: SECOND - 301, exp: SECOND - 1 } });
    const old = { ...expected, now: NOW - 1_001 };
    expect(await verifyToken(token, old)).toMatchObject({ ok: true });
    const backdated = await signed({ claims: { iat: SECOND - 301, exp: SECOND + 10 } });
    expect(await verifyToken(backdated, expected)).toEqual({
      ok: false,
      code: "auth.malformed_token",
    });
  });

  test("verifyToken refuses every other algorithm as malformed, including `none`", async () => {
    const [, payload, signature] = (await mint()).split(".");
    for (const alg of ["none", "HS256", "RS256", "ES256", "eddsa"]) {
      const forged = toBase64Url(utf8ToBytes(JSON.stringify({ ...header, alg })));
      for (const token of [`${forged}.${payload}.${signature}`, `${forged}.${payload}.`]) {
        expect(looksLikeToken(token)).toBe(true);
        expect(await verifyToken(token, expected)).toEqual({
          ok: false,
          code: "auth.malformed_token",
        });
      }
    }
  });

  test("verifyToken refuses every spelling of a token except the canonical one", async () => {
    const token = await mint();
    const [head, payload, signature] = token.split(".");
    const spellings = [
      respelled(token),
      `${token}==`,
      `${head}=.${payload}.${signature}`,
      `${head}.${payload}==.${signature}`,
    ];
    for (const spelling of spellings) {
      expect(looksLikeToken(spelling)).toBe(true);
      expect(peekToken(spelling)).toEqual({ ok: false, code: "auth.malformed_token" });
      expect(await verifyToken(spelling, expected)).toEqual({
        ok: false,
        code: "auth.malformed_token",
      });
    }
  });

  test("verifyToken refuses unknown critical header members", async () => {
    const forged = toBase64Url(utf8ToBytes(JSON.stringify({ ...header, crit: ["exp"], exp: 1 })));
    const token = (await mint()).replace(/^[^.]+/, forged);
    expect(await verifyToken(token, expected)).toEqual({ ok: false, code: "auth.malformed_token" });
  });
});

describe("a token that fails verification", () => {
  const failed = { ok: false, code: "auth.verification_failed" };

  test("verifyToken refuses a token signed by another key", async () => {
    expect(await verifyToken(await signed({}, stranger), expected)).toEqual(failed);
  });

  test("verifyToken refuses a token whose claim was changed after signing", async () => {
    const [head, , signature] = (await mint()).split(".");
    const swapped = toBase64Url(
      utf8ToBytes(JSON.stringify({ ...claims, sub: "agent-2", iss: "agent-2" })),
    );
    expect(await verifyToken(`${head}.${swapped}.${signature}`, expected)).toEqual(failed);
  });

  test("verifyToken refuses a token for another audience", async () => {
    const elsewhere = await mint({ audience: publicKeyToDidKey(stranger.publicKey) });
    expect(await verifyToken(elsewhere, expected)).toEqual(failed);
  });

  test.each([
    ["a small-order point", `01${"00".repeat(31)}`],
    ["not a curve point", `02${"00".repeat(31)}`],
    ["31 bytes", "11".repeat(31)],
  ])("verifyToken refuses a token when the device's key is %s", async (_, publicKey) => {
    expect(await verifyToken(await mint(), { ...expected, publicKey })).toEqual(failed);
  });

  test("verifyToken checks the signature before the expiry, so that a forger learns nothing of the clock", async () => {
    const late = { ...expected, now: NOW + 600_000 };
    expect(await verifyToken(await signed({}, stranger), late)).toEqual(failed);
    expect(await verifyToken(await mint(), late)).toEqual({
      ok: false,
      code: "auth.expired_token",
    });
  });
});

describe("the claims of a token whose key is not known", () => {
  test("checkTokenClaims returns the claims of a token of any key", async () => {
    const claimed = { agentId: "agent-1", deviceId: "device-1", expiresAt: NOW + 300_000 };
    for (const token of [await mint(), await signed({}, stranger)]) {
      expect(checkTokenClaims(token, expected)).toMatchObject({ ok: true, claims: claimed });
    }
  });

  const cases: readonly [string, Parameters<typeof signed>[0], { now?: number }, string][] = [
    ["another audience", { claims: { aud: "did:key:z6Mk" } }, {}, "auth.verification_failed"],
    ["a past expiry", {}, { now: NOW + 300_000 }, "auth.expired_token"],
    ["a lifetime of 301 s", { claims: { exp: SECOND + 301 } }, {}, "auth.malformed_token"],
    ["an issue 301 s ahead", {}, { now: NOW - 301_000 }, "auth.malformed_token"],
    ["a wrong typ", { header: { typ: "JWT" } }, {}, "auth.malformed_token"],
  ];
  test.each(cases)(
    "checkTokenClaims refuses a token with %s",
    async (_, change, verifier, code) => {
      const token = await signed(change, stranger);
      expect(checkTokenClaims(token, { ...expected, ...verifier })).toEqual({ ok: false, code });
    },
  );
});

test.each([
  "",
  "secret",
  "a.b",
  "a.b.c.d",
  "a..c",
  ".b.c",
  "a b.c.d",
  "a.b.c\n",
  "ä.b.c",
  "a.b.c/d",
])("looksLikeToken returns false for %j", (text) => {
  expect(looksLikeToken(text)).toBe(false);
  expect(peekToken(text)).toEqual({ ok: false, code: "auth.malformed_token" });
});
