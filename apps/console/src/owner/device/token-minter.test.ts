import { verifyToken } from "@agent/client";
import { describe, expect, test } from "vitest";
import { createBrowserKey, formatFingerprint } from "./browser-key.ts";
import { createTokenMinter } from "./token-minter.ts";

const START = 1_760_000_000_000;
const AUDIENCE = "did:key:z6MkwVDfCg9LbbY6xjH3EZk8YSFQZujV5Y4y1ZWeER9tDiN3";

async function createWorld() {
  const key = await createBrowserKey();
  if (key === undefined) throw new Error("no Ed25519 here");
  let now = START;
  let drawn = 0;
  const mint = createTokenMinter(
    { agentId: "agent-1", deviceId: "device-1", privateKey: key.privateKey, audience: AUDIENCE },
    { now: () => now, randomBytes: (length) => new Uint8Array(length).fill((drawn += 1)) },
  );
  const verify = (token: string) =>
    verifyToken(token, { publicKey: key.publicKey, audience: AUDIENCE, now });
  return { key, mint, verify, advance: (ms: number) => (now += ms) };
}

describe("the tokens of a browser", () => {
  test("OB2: the tokens of a browser are signed by a key whose private part cannot be exported in any form", async () => {
    const { key } = await createWorld();
    for (const format of ["jwk", "pkcs8", "raw"] as const) {
      await expect(crypto.subtle.exportKey(format, key.privateKey)).rejects.toThrow("extractable");
    }
    expect(key.privateKey.extractable).toBe(false);
  });

  test("OB3: the tokens of a browser have one scope and expire after two minutes", async () => {
    const { mint, verify, advance } = await createWorld();
    const token = await mint("account:read", false);
    expect(await verify(token)).toMatchObject({
      ok: true,
      claims: { scopes: ["account:read"], issuedAt: START, expiresAt: START + 120_000 },
    });
    advance(120_000);
    expect(await verify(token)).toEqual({ ok: false, code: "auth.expired_token" });
  });

  test("a token of a browser is used for 90 seconds, and only once for a single-use operation", async () => {
    const { mint, advance } = await createWorld();
    const first = await mint("task:read", false);
    advance(89_999);
    expect(await mint("task:read", false)).toBe(first);
    expect(await mint(undefined, false)).not.toBe(first);
    advance(1);
    expect(await mint("task:read", false)).not.toBe(first);
    const votes = [await mint("approvals:vote", true), await mint("approvals:vote", true)];
    expect(new Set([...votes, await mint("approvals:vote", false)]).size).toBe(3);
  });

  test("a token of a browser whose clock was set back is not used again", async () => {
    const { mint, advance } = await createWorld();
    const ahead = await mint("task:read", false);
    advance(-1);
    expect(await mint("task:read", false)).not.toBe(ahead);
  });
});

test("the page shows a key's fingerprint as the terminal does, in groups of four", () => {
  expect(formatFingerprint("00".repeat(32))).toBe("6668 7aad f862 bd77");
});
