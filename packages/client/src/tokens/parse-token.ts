import { fromBase64Url } from "@agent/crypto";
import { limits } from "@agent/wire";
import * as v from "valibot";

export const TOKEN_TYPE = "agent-token+jwt";
export const TOKEN_ALGORITHMS = ["EdDSA", "Ed25519"] as const;

const MAX_TOKEN_CHARACTERS = 4_096;
const SIGNATURE_BYTES = 64;

const idText = v.pipe(v.string(), v.minLength(1), v.maxLength(limits.idLength));
// The last second that a Date can represent.
const seconds = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(8.64e12));

const Header = v.object({
  alg: v.picklist(TOKEN_ALGORITHMS),
  typ: v.literal(TOKEN_TYPE),
  kid: idText,
});

const Claims = v.pipe(
  v.object({
    iss: idText,
    sub: idText,
    aud: v.string(),
    scope: v.string(),
    iat: seconds,
    exp: seconds,
    jti: idText,
  }),
  v.check((claims) => claims.iss === claims.sub),
);

interface TokenParts {
  readonly header: v.InferOutput<typeof Header>;
  readonly claims: v.InferOutput<typeof Claims>;
}

/**
 * Returns whether a bearer token has the outline of a compact JWS. A text with this outline but not in
 * canonical form is a malformed token; any other text is not a token.
 */
export function looksLikeToken(text: string): boolean {
  return /^[\w=-]+\.[\w=-]+\.[\w=-]*$/.test(text);
}

/**
 * Parses a token without verifying it; returns null if it is malformed. `jose` accepts padding and non-zero
 * unused bits, which would give one token several spellings; `fromBase64Url` does not.
 */
export function parseToken(text: string): TokenParts | null {
  if (text.length > MAX_TOKEN_CHARACTERS) return null;
  const parts = text.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3) return null;
  try {
    if (fromBase64Url(signature).length !== SIGNATURE_BYTES) return null;
    return {
      header: v.parse(Header, parseJsonPart(header)),
      claims: v.parse(Claims, parseJsonPart(claims)),
    };
  } catch {
    return null;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseJsonPart(part: string): unknown {
  return JSON.parse(utf8.decode(fromBase64Url(part)));
}
