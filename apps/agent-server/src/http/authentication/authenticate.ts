import { hash, timingSafeEqual } from "node:crypto";
import { createClientAddressFinder } from "@agent/ip-networks";
import { owner, type Caller } from "../../caller.ts";
import type { AuthCode } from "../refusals.ts";

export type AuthenticateResult =
  | { readonly ok: true; readonly caller: Caller }
  | {
      readonly ok: false;
      readonly code: AuthCode;
      /** Given when the same request may be accepted later. */
      readonly retryAfterSeconds?: number;
    };

/** Checks the signed token after `agent:` in a bearer token, which came from the client at `address`. */
export type CheckSignedToken = (token: string, address: string) => Promise<AuthenticateResult>;

/** The parts of a request that determine its client's address. */
export interface RequestSource {
  readonly socketAddress: string | undefined;
  readonly forwardedFor: string | undefined;
}

export type Authenticate = (
  authorization: string | null,
  source: RequestSource,
) => Promise<AuthenticateResult>;

/**
 * Identifies the sender of a request by its Authorization header: the static token's holder is the
 * owner, a signed token identifies its agent. A request without the header is accepted only by an
 * explicitly open server.
 */
export function createAuthenticator(options: {
  authToken: string | undefined;
  allowAnonymous: boolean;
  /** Addresses and CIDR ranges. */
  trustedProxies: readonly string[];
  checkSigned: CheckSignedToken;
}): Authenticate {
  const { authToken, allowAnonymous, checkSigned } = options;
  const findClientAddress = createClientAddressFinder(options.trustedProxies);
  const expected = authToken === undefined ? undefined : digest(authToken);
  return async (authorization, { socketAddress, forwardedFor }) => {
    if (authorization === null) {
      return allowAnonymous ? { ok: true, caller: owner } : { ok: false, code: "auth.missing" };
    }
    const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (bearer === undefined) return { ok: false, code: "auth.unknown_token" };
    if (bearer.startsWith("agent:")) {
      const address = findClientAddress(socketAddress, forwardedFor);
      return checkSigned(bearer.slice("agent:".length), address);
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
