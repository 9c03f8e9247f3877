import { hash, timingSafeEqual } from "node:crypto";
import { owner, type Caller } from "../../caller.ts";
import type { AuthCode } from "../refusals.ts";

export type AuthenticateResult =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly code: AuthCode };

/** Checks what stands behind `agent:` in a bearer. */
export type CheckSignedToken = (token: string) => Promise<AuthenticateResult>;

export type Authenticate = (authorization: string | null) => Promise<AuthenticateResult>;

/**
 * Who sent a request, by its Authorization header: the static token's holder is the owner, a signed
 * token speaks for its agent. Without a header only an explicitly open server answers.
 */
export function createAuthenticator(options: {
  authToken: string | undefined;
  allowAnonymous: boolean;
  checkSigned: CheckSignedToken;
}): Authenticate {
  const { authToken, allowAnonymous, checkSigned } = options;
  const expected = authToken === undefined ? undefined : digest(authToken);
  return async (authorization) => {
    if (authorization === null) {
      return allowAnonymous ? { ok: true, caller: owner } : { ok: false, code: "auth.missing" };
    }
    const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (bearer === undefined) return { ok: false, code: "auth.unknown_token" };
    if (bearer.startsWith("agent:")) {
      return checkSigned(bearer.slice("agent:".length));
    }
    // Equal lengths let the comparison take the same time for every wrong token.
    return expected !== undefined && timingSafeEqual(digest(bearer), expected)
      ? { ok: true, caller: owner }
      : { ok: false, code: "auth.unknown_token" };
  };
}

/** By way of hex, which takes half the time of asking for the bytes. */
function digest(text: string): Buffer {
  return Buffer.from(hash("sha256", text, "hex"));
}
