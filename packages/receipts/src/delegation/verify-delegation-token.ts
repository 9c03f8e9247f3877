import {
  buildRefusal,
  type Check,
  hexToBytes,
  parseJsonText,
  runLocalChecks,
  SUITE,
  toVerdict,
  type Verdict,
  verifyJson,
} from "@agent/crypto";
import * as v from "valibot";
import { isWithinScope, parseScope } from "./delegation-scope.ts";
import {
  DELEGATION_LIMITS,
  type DelegationToken,
  DelegationTokenSchema,
} from "./delegation-token.ts";

/** Every reason for which a delegation token is not valid. */
export type DelegationRefusal =
  | "delegation.malformed"
  | "delegation.too_long"
  | "delegation.suite"
  | "delegation.wrong_delegate"
  | "delegation.key_unbound"
  | "delegation.signature_invalid"
  | "delegation.lifetime"
  | "delegation.not_yet_valid"
  | "delegation.expired"
  | "delegation.chain_broken"
  | "delegation.widened";

/** The verifier's own values. */
export interface VerifyDelegationOptions {
  /** The verifier's clock, in ms since the epoch. */
  readonly now: number;
  /** The agent that presents the token and must be its delegate. */
  readonly delegateId: string;
  /**
   * Returns the keys bound to an issuer, as 64 hex digits; none: every token of that issuer is
   * refused.
   */
  readonly listKeys: (agentId: string) => readonly string[];
}

/** The rights that a valid token grants. Times are in ms since the epoch, by the issuers' clocks. */
export interface EffectiveRight {
  readonly tools: ReadonlySet<string>;
  /** In US dollars; undefined if no token of the chain sets a limit. */
  readonly maxBudget: number | undefined;
  readonly notBefore: number;
  readonly expiresAt: number;
}

/** A token and its parents, up to the first issuer's. */
type DelegationChain = readonly DelegationToken[];

const delegationChecks: readonly Check<
  DelegationChain,
  VerifyDelegationOptions,
  DelegationRefusal
>[] = [
  {
    name: "chain_length",
    refusal: "delegation.too_long",
    test: (chain) => chain.length <= DELEGATION_LIMITS.maxChain,
  },
  {
    name: "suite",
    refusal: "delegation.suite",
    test: (chain) => chain.every(({ suite }) => suite === SUITE),
  },
  {
    name: "delegate",
    refusal: "delegation.wrong_delegate",
    test: ([token], { delegateId }) => token?.delegate_agent_id === delegateId,
  },
  {
    name: "chain",
    refusal: "delegation.chain_broken",
    test: (chain) =>
      everyLink(chain, (child, parent) => child.issuer_agent_id === parent.delegate_agent_id),
  },
  {
    name: "narrowing",
    refusal: "delegation.widened",
    test: (chain) => everyLink(chain, isNarrower),
  },
  {
    name: "lifetime",
    refusal: "delegation.lifetime",
    test: (chain) =>
      chain.every(({ not_before, expires_at }) => {
        const lifetimeMs = expires_at - not_before;
        return lifetimeMs > 0 && lifetimeMs <= DELEGATION_LIMITS.maxLifeMs;
      }),
  },
  {
    name: "begun",
    refusal: "delegation.not_yet_valid",
    test: (chain, { now }) => chain.every(({ not_before }) => not_before <= now),
  },
  {
    name: "in_force",
    refusal: "delegation.expired",
    test: (chain, { now }) => chain.every(({ expires_at }) => now < expires_at),
  },
  {
    name: "key",
    refusal: "delegation.key_unbound",
    test: (chain, { listKeys }) =>
      chain.every((token) => listKeys(token.issuer_agent_id).includes(token.issuer_public_key)),
  },
  {
    name: "signature",
    refusal: "delegation.signature_invalid",
    test: (chain) => chain.every(isSignatureValid),
  },
];

/**
 * Verifies a token, given as a value or as its JSON text, and every parent above it. Each token must be
 * signed by a key of its issuer, be in force, be no wider than its parent and be issued by the
 * delegate of its parent. Never throws on a value; DelegationRefusal lists the codes.
 */
export function verifyDelegationToken(
  value: unknown,
  options: VerifyDelegationOptions,
): Verdict<DelegationRefusal> {
  const chain = parseDelegationChain(value);
  return toVerdict(
    chain === null
      ? buildRefusal("structure", "delegation.malformed")
      : runLocalChecks(delegationChecks, chain, options),
  );
}

/**
 * Returns the tokens from the given one up to the first issuer's; null for anything that is not a
 * chain of tokens. Stops one token above the limit.
 */
export function parseDelegationChain(value: unknown): readonly DelegationToken[] | null {
  const parsed = typeof value === "string" ? parseJsonText(value) : { value };
  if (parsed === null) return null;
  const chain: DelegationToken[] = [];
  let next: unknown = parsed.value;
  do {
    if (!v.is(DelegationTokenSchema, next)) return null;
    const token = next as unknown as DelegationToken;
    chain.push(token);
    next = token.parent;
  } while (next !== undefined && chain.length <= DELEGATION_LIMITS.maxChain);
  return chain;
}

/**
 * Returns the rights that a valid chain grants: those of its first token, because each token is no wider
 * than its parent. Throws RangeError on an empty chain.
 */
export function getEffectiveRight([token]: readonly DelegationToken[]): EffectiveRight {
  if (token === undefined) throw new RangeError("chain must contain at least one token");
  return {
    tools: parseScope(token.scope),
    maxBudget: token.max_budget,
    notBefore: token.not_before,
    expiresAt: token.expires_at,
  };
}

function everyLink(
  chain: DelegationChain,
  test: (child: DelegationToken, parent: DelegationToken) => boolean,
): boolean {
  return chain.every((child, index) => {
    const parent = chain[index + 1];
    return parent === undefined || test(child, parent);
  });
}

function isNarrower(child: DelegationToken, parent: DelegationToken): boolean {
  const budget = parent.max_budget;
  return (
    isWithinScope(parseScope(child.scope), parent.scope) &&
    (budget === undefined || (child.max_budget !== undefined && child.max_budget <= budget)) &&
    child.not_before >= parent.not_before &&
    child.expires_at <= parent.expires_at
  );
}

function isSignatureValid(token: DelegationToken): boolean {
  return verifyJson(token, hexToBytes(token.issuer_public_key));
}
