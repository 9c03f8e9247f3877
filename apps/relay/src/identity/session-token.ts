import {
  bytesToUtf8,
  fromBase64Url,
  hexToBytes,
  isJsonObject,
  sign,
  toBase64Url,
  unlessMalformed,
  utf8ToBytes,
  verify,
} from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import type { OperatorCaller } from "./caller.ts";
import type { RelayIdentity } from "./relay-identity.ts";

/** The type of a console session's bearer, a compact JWS that the relay signs for itself. */
const TOKEN_TYPE = "operator-token+jwt";
const MAX_CHARACTERS = 2_048;

/** These 42 bytes are 56 characters of base64url without a remainder, whatever follows them. */
const HEADER_START = toBase64Url(utf8ToBytes(`{"alg":"EdDSA","typ":"${TOKEN_TYPE}",`));

type SigningIdentity = Pick<RelayIdentity, "relayId" | "did" | "secretKey" | "publicKey">;

export interface SessionClaims {
  readonly sessionId: string;
  readonly level: "view" | "operate";
  /** In ms. */
  readonly expiresAt: number;
}

/** Verifies the bearers of console sessions, and that their session has not ended. */
export interface SessionTokenVerifier {
  verify(token: string): Promise<{ readonly ok: true; readonly caller: OperatorCaller } | Refusal>;
}

/** Mints a bearer of at most five minutes. */
export function mintSessionToken(
  { relayId, did, secretKey }: SigningIdentity,
  { sessionId, level, expiresAt }: SessionClaims,
  now: number,
): string {
  const header = { alg: "EdDSA", typ: TOKEN_TYPE, kid: relayId };
  const claims = {
    iss: relayId,
    sub: relayId,
    aud: did,
    sid: sessionId,
    level,
    iat: Math.floor(now / 1_000),
    exp: Math.floor(expiresAt / 1_000),
  };
  const text = `${encodePart(header)}.${encodePart(claims)}`;
  return `${text}.${toBase64Url(sign(utf8ToBytes(text), secretKey))}`;
}

/**
 * Returns whether a bearer token begins like those that this relay mints; its signature must then be
 * verified. This is checked for every request, so it compares characters instead of parsing the header.
 */
export function isSessionToken(token: string): boolean {
  return token.startsWith(HEADER_START);
}

/**
 * Verifies a bearer with the relay's own key, which signs no other text of this form. Refused:
 * `auth.malformed_token`, `auth.verification_failed`, `auth.expired_token`.
 */
export function verifySessionToken(
  token: string,
  { relayId, did, publicKey }: SigningIdentity,
  now: number,
):
  | ({ readonly ok: true } & SessionClaims)
  | Refusal<"auth.malformed_token" | "auth.verification_failed" | "auth.expired_token"> {
  const parts = token.split(".");
  const [headerText = "", claimsText = "", signatureText = ""] = parts;
  const [header, claims] = [parsePart(headerText), parsePart(claimsText)];
  const signature = unlessMalformed(() => fromBase64Url(signatureText));
  const isFormed =
    parts.length === 3 &&
    token.length <= MAX_CHARACTERS &&
    header?.["alg"] === "EdDSA" &&
    header["typ"] === TOKEN_TYPE &&
    claims !== undefined &&
    signature?.length === 64;
  if (!isFormed) return refuse("auth.malformed_token");
  const signed = utf8ToBytes(`${headerText}.${claimsText}`);
  const { iss, sub, aud, sid, level, iat, exp } = claims;
  const isOurs = iss === relayId && sub === relayId && aud === did;
  if (!isOurs || !verify(signature, signed, hexToBytes(publicKey))) {
    return refuse("auth.verification_failed");
  }
  const isClaimed =
    typeof sid === "string" &&
    (level === "view" || level === "operate") &&
    typeof iat === "number" &&
    typeof exp === "number";
  if (!isClaimed || (exp - iat) * 1_000 > limits.tokenLifetimeMs) {
    return refuse("auth.malformed_token");
  }
  if (now >= exp * 1_000) return refuse("auth.expired_token");
  return { ok: true, sessionId: sid, level, expiresAt: exp * 1_000 };
}

function encodePart(part: object): string {
  return toBase64Url(utf8ToBytes(JSON.stringify(part)));
}

function parsePart(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytesToUtf8(fromBase64Url(text)));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
