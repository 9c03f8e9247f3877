import { isUuid, signJson, SUITE } from "@agent/crypto";
import * as v from "valibot";
import { hex32, money, text, wholeNumber } from "../fields.ts";

const agentId = v.pipe(text, v.check(isUuid, "must be a UUID of version 4, 7 or 8 in lower case"));

/** Limits of a delegation token. */
export const DELEGATION_LIMITS = {
  /** The maximum of `expires_at - not_before`, in ms. */
  maxLifeMs: 86_400_000,
  /** The maximum number of tokens in a chain, including the one presented. */
  maxChain: 10,
} as const;

/**
 * The members of one token. The parent is parsed separately, so that a chain causes no recursion.
 */
export const DelegationTokenSchema = v.looseObject(
  {
    token_id: text,
    issuer_agent_id: agentId,
    issuer_public_key: hex32,
    delegate_agent_id: agentId,
    // Comma-separated names of tools; an empty scope allows none.
    scope: v.string("must be a string"),
    max_budget: v.optional(money),
    not_before: wholeNumber,
    expires_at: wholeNumber,
    suite: v.optional(v.string("must be a string")),
    signature: text,
  },
  "must be a JSON object",
);

/**
 * An issuer's permission for a delegate to use tools and money (specification, "Other shapes";
 * docs/decisions.md, 6). Times are in ms since the epoch, by the issuer's clock, `max_budget` is in US
 * dollars, keys in hex.
 */
export interface DelegationToken {
  readonly token_id: string;
  readonly issuer_agent_id: string;
  readonly issuer_public_key: string;
  readonly delegate_agent_id: string;
  readonly scope: string;
  readonly max_budget?: number;
  readonly not_before: number;
  readonly expires_at: number;
  readonly parent?: DelegationToken;
  readonly suite: typeof SUITE;
  /** Base64url, over the canonical JSON of all other members. */
  readonly signature: string;
}

/** A token before it is signed. */
export type DelegationTokenBody = Omit<DelegationToken, "suite" | "signature">;

/** Returns the body with `suite` and `signature`; `secretKey` is the issuer's 32-byte seed. */
export function signDelegationToken(
  body: DelegationTokenBody,
  secretKey: Uint8Array,
): DelegationToken {
  return signJson<Omit<DelegationToken, "signature">>({ ...body, suite: SUITE }, secretKey);
}

/**
 * The members that a holder may change for the next agent; omitted ones are those of the parent. Units are
 * those of `DelegationToken`.
 */
export interface Attenuation {
  readonly token_id: string;
  readonly delegate_agent_id: string;
  readonly scope?: string;
  readonly max_budget?: number;
  readonly not_before?: number;
  readonly expires_at?: number;
}

/**
 * Returns a token of the parent's delegate for the next agent. It is signed as requested;
 * `verifyDelegationToken` refuses one that is wider than its parent (`delegation.widened`).
 *
 * @param holder the parent's delegate: its public key as 64 hex digits and its 32-byte seed
 */
export function attenuateDelegationToken(
  parent: DelegationToken,
  { token_id, delegate_agent_id, ...narrower }: Attenuation,
  holder: { readonly publicKey: string; readonly secretKey: Uint8Array },
): DelegationToken {
  const max_budget = narrower.max_budget ?? parent.max_budget;
  return signDelegationToken(
    {
      token_id,
      issuer_agent_id: parent.delegate_agent_id,
      issuer_public_key: holder.publicKey,
      delegate_agent_id,
      scope: narrower.scope ?? parent.scope,
      ...(max_budget !== undefined && { max_budget }),
      not_before: narrower.not_before ?? parent.not_before,
      expires_at: narrower.expires_at ?? parent.expires_at,
      parent,
    },
    holder.secretKey,
  );
}
