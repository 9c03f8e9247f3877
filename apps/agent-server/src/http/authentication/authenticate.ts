import { hash, timingSafeEqual } from "node:crypto";
import { owner, type Caller } from "../../caller.ts";
import type { AuthCode } from "../refusals.ts";
import { toCountedNetwork } from "./counted-network.ts";

export type AuthenticateResult =
  | { readonly ok: true; readonly caller: Caller }
  | {
      readonly ok: false;
      readonly code: AuthCode;
      /** Given when the same request may be accepted later. */
      readonly retryAfterSeconds?: number;
    };

/** Checks the signed token after `agent:` in a bearer token, which came from `network`. */
export type CheckSignedToken = (token: string, network: string) => Promise<AuthenticateResult>;

export type Authenticate = (
  authorization: string | null,
  remoteAddress: string | undefined,
) => Promise<AuthenticateResult>;

/**
 * Identifies the sender of a request by its Authorization header: the static token's holder is the
 * owner, a signed token identifies its agent. A request without the header is accepted only by an
 * explicitly open server.
 */
export function createAuthenticator(options: {
  authToken: string | undefined;
  allowAnonymous: boolean;
  checkSigned: CheckSignedToken;
}): Authenticate {
  const { authToken, allowAnonymous, checkSigned } = options;
  const expected = authToken === undefined ? undefined : digest(authToken);
  return async (authorization, remoteAddress) => {
    if (authorization === null) {
      return allowAnonymous ? { ok: true, caller: owner } : { ok: false, code: "auth.missing" };
    }
    const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (bearer === undefined) return { ok: false, code: "auth.unknown_token" };
    if (bearer.startsWith("agent:")) {
      return checkSigned(bearer.slice("agent:".length), toCountedNetwork(remoteAddress));
    }
    // Equal lengths let the comparison take the same time for every wrong token.
    return expected !== undefined && timingSafeEqual(digest(bearer), expected)
      ? { ok: true, caller: owner }
      : { ok: false, code: "auth.unknown_token" };
  };
}

/** Hashes to hex, which takes half the time of hashing to bytes. */
function digest(text: string): Buffer {
  return Buffer.from(hash("sha256", text, "hex"));
}
