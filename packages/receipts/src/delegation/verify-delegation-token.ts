import {
  EncodingError,
  hexToBytes,
  isAcceptablePublicKey,
  parseJsonText,
  SUITE,
  verifyJson,
  type Verdict,
} from "@agent/crypto";
import * as v from "valibot";
import { isWithinScope, parseScope } from "./delegation-scope.ts";
import {
  DELEGATION_LIMITS,
  type DelegationToken,
  DelegationTokenSchema,
} from "./delegation-token.ts";
import { runChecks } from "../checks/run-checks.ts";

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

/** What the verifier knows besides the token. */
export interface VerifyDelegationOptions {
  /** The verifier's clock, in ms since the epoch. */
  readonly now: number;
  /** Who shows the token: its delegate has to be this agent. */
  readonly delegateId: string;
  /** The keys bound to an issuer, as 64 hex digits; none: nothing of that issuer is believed. */
  readonly listKeys: (agentId: string) => readonly string[];
}

/** What a valid token allows: the meet of all tokens of its chain. */
export interface EffectiveRight {
  readonly tools: ReadonlySet<string>;
  /** In US dollars; undefined where no token of the chain sets a bound. */
  readonly maxBudget: number | undefined;
  readonly notBefore: number;
  readonly expiresAt: number;
}

/**
 * Judges a token, given as a value or as its JSON text, and every parent above it: each is signed by
 * a key of its issuer, in force, and no wider than the one that it came from; each was handed on by
 * the delegate of the one above. Never throws on what it is handed.
 */
export function verifyDelegationToken(
  value: unknown,
  { now, delegateId, listKeys: keysOf }: VerifyDelegationOptions,
): Verdict<DelegationRefusal> {
  const chain = parseDelegationChain(value);
  const tokens = chain ?? [];
  const everyToken = (test: (token: DelegationToken) => boolean) => tokens.every(test);
  const links = tokens.flatMap((child, index) => {
    const parent = tokens[index + 1];
    return parent === undefined ? [] : [{ child, parent }];
  });
  return runChecks<DelegationRefusal>([
    ["structure", "delegation.malformed", () => chain !== null],
    ["chain_length", "delegation.too_long", () => tokens.length <= DELEGATION_LIMITS.maxChain],
    ["suite", "delegation.suite", () => everyToken(({ suite }) => suite === SUITE)],
    ["delegate", "delegation.wrong_delegate", () => tokens[0]?.delegate_agent_id === delegateId],
    [
      "chain",
      "delegation.chain_broken",
      () => links.every(({ child, parent }) => child.issuer_agent_id === parent.delegate_agent_id),
    ],
    ["narrowing", "delegation.widened", () => links.every(narrows)],
    [
      "lifetime",
      "delegation.lifetime",
      () =>
        everyToken(({ not_before, expires_at }) => {
          const life = expires_at - not_before;
          return life > 0 && life <= DELEGATION_LIMITS.maxLifeMs;
        }),
    ],
    ["begun", "delegation.not_yet_valid", () => everyToken(({ not_before }) => not_before <= now)],
    ["in_force", "delegation.expired", () => everyToken(({ expires_at }) => now < expires_at)],
    [
      "key",
      "delegation.key_unbound",
      () => everyToken((token) => keysOf(token.issuer_agent_id).includes(token.issuer_public_key)),
    ],
    ["signature", "delegation.signature_invalid", () => everyToken(isSignatureValid)],
  ]);
}

/**
 * The tokens from the one shown up to the first issuer's; null for anything that is no chain of
 * tokens. One more than the limit stands for any more.
 */
export function parseDelegationChain(value: unknown): readonly DelegationToken[] | null {
  const parsed = typeof value === "string" ? parseJsonText(value) : { value };
  if (parsed === null) return null;
  const chain: DelegationToken[] = [];
  let next: unknown = parsed.value;
  while (next !== undefined && chain.length <= DELEGATION_LIMITS.maxChain) {
    if (!v.is(DelegationTokenSchema, next)) return null;
    const token = next as unknown as DelegationToken;
    chain.push(token);
    next = token.parent;
  }
  return chain;
}

/** What a chain allows together; it has to be a valid one. */
export function getEffectiveRight(chain: readonly DelegationToken[]): EffectiveRight {
  const [first, ...rest] = chain;
  if (first === undefined) throw new RangeError("a chain has at least one token");
  return rest.reduce<EffectiveRight>(
    (right, token) => ({
      tools: new Set([...right.tools].filter((tool) => isWithinScope([tool], token.scope))),
      maxBudget: minDefined(right.maxBudget, token.max_budget),
      notBefore: Math.max(right.notBefore, token.not_before),
      expiresAt: Math.min(right.expiresAt, token.expires_at),
    }),
    {
      tools: parseScope(first.scope),
      maxBudget: first.max_budget,
      notBefore: first.not_before,
      expiresAt: first.expires_at,
    },
  );
}

function narrows({ child, parent }: { child: DelegationToken; parent: DelegationToken }): boolean {
  const budget = parent.max_budget;
  return (
    isWithinScope(parseScope(child.scope), parent.scope) &&
    (budget === undefined || (child.max_budget !== undefined && child.max_budget <= budget)) &&
    child.not_before >= parent.not_before &&
    child.expires_at <= parent.expires_at
  );
}

function isSignatureValid(token: DelegationToken): boolean {
  try {
    const key = hexToBytes(token.issuer_public_key);
    return isAcceptablePublicKey(key) && verifyJson(token, key);
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
}

function minDefined(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
