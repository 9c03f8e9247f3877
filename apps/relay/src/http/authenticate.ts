import { hash, timingSafeEqual } from "node:crypto";
import { looksLikeToken } from "@agent/client";
import { refuse, type Operation, type Refusal } from "@agent/wire";
import { master, type Caller } from "../identity/caller.ts";
import type { TokenChecker } from "../identity/tokens.ts";

type CallerOr<R extends Refusal> = { readonly ok: true; readonly caller: Caller } | R;

/**
 * Reads a bearer (docs/decisions.md, 2). Both sides of the master comparison are hashed first, so
 * that neither length nor content shows in its time.
 */
export function createAuthenticator(apiToken: string, tokens: TokenChecker) {
  const digest = (text: string) => hash("sha256", text, "buffer");
  const expected = digest(apiToken);
  const masterLooksSigned = looksLikeToken(apiToken);

  return async function authenticate(header: string | undefined): Promise<CallerOr<Refusal>> {
    // A client that offers another scheme must learn which one is asked for (RFC 9110, 11.6.1).
    if (header === undefined || isOtherScheme(header)) return refuse("auth.missing");
    const bearer = /^Bearer (\S+)$/i.exec(header)?.[1];
    if (bearer === undefined) return refuse("auth.unknown_token");
    const looksSigned = looksLikeToken(bearer);
    // What cannot be the master token by its outline need not be compared with it.
    if (looksSigned === masterLooksSigned && timingSafeEqual(digest(bearer), expected)) {
      return { ok: true, caller: master };
    }
    return looksSigned ? tokens.check(bearer) : refuse("auth.unknown_token");
  };
}

/** Whether credentials of another scheme were sent; the case of a scheme's name does not count. */
function isOtherScheme(header: string): boolean {
  const scheme = /^([\w-]+) /.exec(header)?.[1]?.toLowerCase();
  return scheme !== undefined && scheme !== "bearer";
}

/** What the operation's row asks of the caller: operator, owner of the path's agent, scope. */
export function authorize(
  operation: Operation,
  caller: Caller,
  params: { readonly agentId?: string },
): Refusal | undefined {
  if (caller.kind !== "agent") return undefined;
  if (operation.auth === "master") return refuse("auth.master_only");
  if (operation.ownerOnly && params.agentId !== caller.agentId) return refuse("auth.not_owner");
  if (operation.scope !== undefined && !caller.scopes.has(operation.scope)) {
    return refuse("auth.scope_missing", operation.scope);
  }
  return undefined;
}
