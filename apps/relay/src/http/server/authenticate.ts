import { looksLikeToken } from "@agent/client";
import {
  getOperatorLevel,
  isScopeGranted,
  refuse,
  type Operation,
  type Refusal,
} from "@agent/wire";
import {
  anonymousCaller,
  hasCallerEnded,
  type Caller,
  type OperatorCaller,
} from "../../identity/caller.ts";
import type { OperatorTokens } from "../../identity/operator-tokens.ts";
import { isSessionToken, type SessionTokenVerifier } from "../../identity/session-token.ts";
import type { TokenVerifier, Verification } from "../../identity/tokens.ts";

type CallerResult<R extends Refusal> = { readonly ok: true; readonly caller: Caller } | R;

interface TokenReaders {
  readonly operatorTokens: OperatorTokens;
  readonly tokens: TokenVerifier;
  readonly consoleSessions: SessionTokenVerifier;
}

/** Authenticates a bearer token of the operator or of a device (docs/decisions.md, 2). */
export function createAuthenticator({ operatorTokens, tokens, consoleSessions }: TokenReaders) {
  return async function authenticate(
    header: string | undefined,
    verification?: Verification,
  ): Promise<CallerResult<Refusal>> {
    if (header === undefined || header === "") return refuse("auth.missing");
    const bearer = /^Bearer (\S+)$/i.exec(header)?.[1];
    if (bearer === undefined) {
      // The answer to another scheme must name the required one (RFC 9110, 11.6.1).
      return refuse(isOtherScheme(header) ? "auth.missing" : "auth.unknown_token");
    }
    const looksSigned = looksLikeToken(bearer);
    const operator = operatorTokens.find(bearer, looksSigned);
    if (operator !== undefined) return { ok: true, caller: operator };
    if (!looksSigned) return refuse("auth.unknown_token");
    return isSessionToken(bearer)
      ? consoleSessions.verify(bearer)
      : tokens.verify(bearer, verification);
  };
}

/** Whether the credentials are of another scheme. Names of schemes are case-insensitive. */
function isOtherScheme(header: string): boolean {
  const scheme = /^([\w-]+) /.exec(header)?.[1]?.toLowerCase();
  return scheme !== undefined && scheme !== "bearer";
}

type Authenticate = ReturnType<typeof createAuthenticator>;
type Identified = Awaited<ReturnType<Authenticate>>;

interface Authenticator {
  readonly authenticate: Authenticate;
}

/** Authenticates the caller where the operation's row requires one. */
export async function identifyCaller(
  { authenticate }: Authenticator,
  { auth, readsCaller }: Operation,
  header: string | undefined,
): Promise<Identified> {
  if (readsCaller === true && header !== undefined) {
    const known = await authenticate(header);
    return known.ok ? known : { ok: true, caller: anonymousCaller };
  }
  // A relay signs the body, so its signature is checked after the body was read.
  if (auth === "public" || auth === "peer") return { ok: true, caller: anonymousCaller };
  return authenticate(header);
}

/** The credentials of a request that has taken some time. */
interface OlderRequest extends Verification {
  readonly header: string | undefined;
  /** The time at which the request arrived: a token that expired later is still valid. */
  readonly at: number;
}

/** Authenticates a caller again whose token may have ended since. */
export function identifyAgain(
  { authenticate }: Authenticator,
  caller: Caller,
  { header, ...verification }: OlderRequest,
): Identified | Promise<Identified> {
  const mayHaveEnded = hasCallerEnded(caller) || (verification.isFresh && caller.kind === "agent");
  return mayHaveEnded ? authenticate(header, verification) : { ok: true, caller };
}

/** Checks a console session by the level of the operation; the operator's own token may do everything. */
function authorizeSession(
  operation: Operation,
  { session }: OperatorCaller,
): Refusal<"session.level"> | undefined {
  if (session === undefined) return undefined;
  const level = getOperatorLevel(operation);
  const isAllowed = level === "view" || (level === "operate" && session.level === "operate");
  return isAllowed ? undefined : refuse("session.level");
}

/** Checks the caller by the operation's row: operator, owner of the path's agent, scope. */
export function authorize(
  operation: Operation,
  caller: Caller,
  params: { readonly agentId?: string; readonly deviceId?: string },
): Refusal | undefined {
  if (caller.kind === "master") return authorizeSession(operation, caller);
  if (caller.kind !== "agent") return undefined;
  if (operation.auth === "master") return refuse("auth.master_only");
  if (operation.ownerOnly && params.agentId !== caller.agentId) return refuse("auth.not_owner");
  if (operation.ownDevice === true && params.deviceId === caller.deviceId) return undefined;
  if (operation.scope !== undefined && !isScopeGranted(caller.scopes, operation.scope)) {
    return refuse("auth.scope_missing", operation.scope);
  }
  return undefined;
}
