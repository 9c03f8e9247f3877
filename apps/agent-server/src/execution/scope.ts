export type ScopeAnswer =
  | { readonly ok: true; readonly scope?: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * The tools that a delegation token leaves open; without a token all of them. This version verifies no
 * delegation tokens, so work that comes with one is denied instead of running unrestricted.
 */
export function readScope(delegationToken: string | undefined): ScopeAnswer {
  if (delegationToken === undefined) return { ok: true };
  return { ok: false, reason: "Delegation tokens are not accepted by this agent" };
}
