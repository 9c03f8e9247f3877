import { limits, type Code } from "@agent/wire";
import { errors as jose, jwtVerify, SignJWT } from "jose";
import { parseToken, TOKEN_ALGORITHMS, TOKEN_TYPE } from "./parse-token.ts";
import { importSigningKey, importVerifyingKey, type TokenKey } from "./token-key.ts";

/** The content of a token, and the key that signs it. */
export interface MintTokenOptions {
  readonly agentId: string;
  readonly deviceId: string;
  /** The device's Ed25519 seed, 32 bytes, or its private key of WebCrypto. */
  readonly secretKey: Uint8Array | TokenKey;
  /** The did:key of the called relay or agent server. */
  readonly audience: string;
  readonly scope: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The lifetime in ms, from 1,000 to 300,000; the default is 300,000. */
  readonly lifetimeMs?: number;
  /** Unique per token. */
  readonly jti: string;
}

/** The content of a verified token. */
export interface TokenClaims {
  readonly agentId: string;
  readonly deviceId: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  readonly jti: string;
}

/** The codes with which a token is refused. */
export type TokenCode = Extract<
  Code,
  "auth.malformed_token" | "auth.expired_token" | "auth.verification_failed"
>;

/** The refusal of a token. */
export interface TokenRefusal {
  readonly ok: false;
  readonly code: TokenCode;
}

/**
 * Mints a signed device token, a compact JWS with `alg` EdDSA (docs/decisions.md, 2). Throws for a
 * lifetime outside 1 to 300 s, because no verifier accepts such a token.
 */
export async function mintToken(options: MintTokenOptions): Promise<string> {
  const lifetimeMs = options.lifetimeMs ?? limits.tokenLifetimeMs;
  if (!(lifetimeMs >= 1_000 && lifetimeMs <= limits.tokenLifetimeMs)) {
    throw new RangeError("lifetimeMs must be from 1000 to 300000");
  }
  const issuedAt = Math.floor(options.now / 1_000);
  const token = new SignJWT({ scope: options.scope.join(" ") })
    .setProtectedHeader({ alg: "EdDSA", typ: TOKEN_TYPE, kid: options.deviceId })
    .setIssuer(options.agentId)
    .setSubject(options.agentId)
    .setAudience(options.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(lifetimeMs / 1_000))
    .setJti(options.jti);
  return token.sign(await importSigningKey(options.secretKey));
}

/** Reads the device and the agent of a token without verifying it, to find the key that verifies it. */
export function peekToken(
  text: string,
): { readonly ok: true; readonly deviceId: string; readonly agentId: string } | TokenRefusal {
  const token = parseToken(text);
  if (token === null) return refusal("auth.malformed_token");
  return { ok: true, deviceId: token.header.kid, agentId: token.claims.sub };
}

type CheckedToken = { readonly ok: true; readonly claims: TokenClaims } | TokenRefusal;

/**
 * Checks the claims of a token against the verifier's did:key and its clock (ms), but not the signature, so
 * that no key is looked up for a token that cannot be valid. Refused with `auth.malformed_token` (form,
 * type, algorithm, `iss` other than `sub`, lifetime over 300 s, issued more than 300 s from now),
 * `auth.verification_failed` (audience) or `auth.expired_token`.
 */
export function checkTokenClaims(
  text: string,
  expected: { readonly audience: string; readonly now: number },
): CheckedToken {
  const token = parseToken(text);
  if (token === null) return refusal("auth.malformed_token");
  const { aud, iat, exp, sub, scope, jti } = token.claims;
  if (aud !== expected.audience) return refusal("auth.verification_failed");
  if (exp <= Math.floor(expected.now / 1_000)) return refusal("auth.expired_token");
  // jose's `maxTokenAge` would refuse tokens from a clock that is one second fast.
  const skewMs = Math.abs(expected.now - iat * 1_000);
  if (skewMs > limits.clockSkewMs || (exp - iat) * 1_000 > limits.tokenLifetimeMs) {
    return refusal("auth.malformed_token");
  }
  const claims = {
    agentId: sub,
    deviceId: token.header.kid,
    scopes: scope.split(" ").filter((word) => word !== ""),
    issuedAt: iat * 1_000,
    expiresAt: exp * 1_000,
    jti,
  };
  return { ok: true, claims };
}

/**
 * Verifies a signed device token with the device's key (64 hex digits), the verifier's did:key and its
 * clock (ms). Refused like `checkTokenClaims`, after `auth.verification_failed` for its signature.
 */
export async function verifyToken(
  text: string,
  expected: { readonly publicKey: string; readonly audience: string; readonly now: number },
): Promise<CheckedToken> {
  if (parseToken(text) === null) return refusal("auth.malformed_token");
  const key = await importVerifyingKey(expected.publicKey);
  if (key === null) return refusal("auth.verification_failed");
  try {
    await jwtVerify(text, key, {
      algorithms: [...TOKEN_ALGORITHMS],
      typ: TOKEN_TYPE,
      currentDate: new Date(expected.now),
    });
  } catch (error) {
    if (error instanceof jose.JOSEError) return refusal(toTokenCode(error));
    throw error;
  }
  return checkTokenClaims(text, expected);
}

function toTokenCode(error: jose.JOSEError): TokenCode {
  if (error instanceof jose.JWTExpired) return "auth.expired_token";
  if (error instanceof jose.JWSSignatureVerificationFailed) return "auth.verification_failed";
  return "auth.malformed_token";
}

function refusal(code: TokenCode): TokenRefusal {
  return { ok: false, code };
}
