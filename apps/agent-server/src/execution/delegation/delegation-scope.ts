import {
  parseDelegationChain,
  type DelegationToken,
  getEffectiveRight,
  isWithinScope,
  verifyDelegationToken,
} from "@agent/receipts";
import type { Identity } from "../../identity/identity.ts";
import { buildFoundLookup, unknownLookup, type Lookup } from "../../lookup.ts";
import type { WorkTask } from "../task.ts";

/** Finds an agent's valid key, 64 hex digits; an agent without one is trusted with nothing. */
export type FindIssuerKey = (agentId: string) => Promise<Lookup<string>>;

/** The rights that a task's token leaves, or the reason why the task must not run. */
export interface DelegationScope {
  /** The effective scope, sorted; absent without a token or with an invalid one. */
  readonly scope?: readonly string[];
  readonly scopeExpiresAt?: number;
  readonly delegationToken?: DelegationToken;
  readonly refusal?: string;
}

/** The rights of a task, unless the keys that determine them cannot be looked up now. */
export type DelegationVerdict =
  | { readonly ok: true; readonly rights: DelegationScope }
  | { readonly ok: false };

export type CheckDelegation = (
  token: unknown,
  task: Pick<WorkTask, "requiredCapabilities">,
) => Promise<DelegationVerdict>;

/** The effective scope is part of the receipt, which must stay far below the limit of a request. */
const MAX_TOKEN_BYTES = 65_536;

/**
 * Checks the delegation token, a value or its JSON text, that came with a task. Without `findKey`
 * only this agent itself is known as an issuer.
 */
export function createDelegationCheck(parts: {
  identity: Identity;
  findKey: FindIssuerKey | undefined;
  now: () => number;
}): CheckDelegation {
  const { identity, findKey = async () => unknownLookup, now } = parts;

  return async (value, { requiredCapabilities }) => {
    if (value === undefined || value === null) return { ok: true, rights: {} };
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (Buffer.byteLength(text) > MAX_TOKEN_BYTES) return refuseToken("delegation.malformed");
    const chain = parseDelegationChain(text) ?? [];
    const verifyWithKeys = (keys: IssuerKeys) =>
      verifyDelegationToken(text, {
        now: now(),
        delegateId: identity.agentId,
        listKeys: (agentId) => keys.get(agentId) ?? [],
      });

    // Reject structurally invalid tokens before the lookup of issuer keys, so that junk cannot
    // trigger relay requests.
    const selfVerdict = verifyWithKeys(collectClaimedKeys(chain));
    if (!selfVerdict.valid) return refuseToken(selfVerdict.code);
    const keys = await loadIssuerKeys(chain);
    if (keys === undefined) return { ok: false };
    const verdict = verifyWithKeys(keys);
    if (!verdict.valid) return refuseToken(verdict.code);

    const [delegationToken] = chain;
    if (delegationToken === undefined) return refuseToken("delegation.malformed");
    const { tools, expiresAt: scopeExpiresAt } = getEffectiveRight(chain);
    const scope = [...tools].toSorted();
    const delegationScope = { scope, scopeExpiresAt, delegationToken };
    const isAllowed = isWithinScope(requiredCapabilities, scope.join(","));
    const refusal = "A required capability is outside the scope of the delegation";
    return { ok: true, rights: { ...delegationScope, ...(!isAllowed && { refusal }) } };
  };

  /** Loads the keys of all issuers; undefined while one of them cannot be looked up. */
  async function loadIssuerKeys(
    chain: readonly DelegationToken[],
  ): Promise<IssuerKeys | undefined> {
    const issuers = new Set(chain.map((token) => token.issuer_agent_id));
    const lookups = [...issuers].map(async (agentId) => {
      const isOwn = agentId === identity.agentId;
      const lookup = isOwn ? buildFoundLookup(identity.publicKey) : await findKey(agentId);
      return [agentId, lookup] as const;
    });
    const keys = new Map<string, readonly string[]>();
    for (const [agentId, lookup] of await Promise.all(lookups)) {
      if (lookup.status === "unavailable") return undefined;
      keys.set(agentId, lookup.status === "found" ? [lookup.value] : []);
    }
    return keys;
  }
}

/** The keys that each issuer may sign with. */
type IssuerKeys = ReadonlyMap<string, readonly string[]>;

function collectClaimedKeys(chain: readonly DelegationToken[]): IssuerKeys {
  const claimed = Map.groupBy(chain, (token) => token.issuer_agent_id);
  return new Map(
    [...claimed].map(([agentId, tokens]) => [agentId, tokens.map((one) => one.issuer_public_key)]),
  );
}

function refuseToken(code: string): DelegationVerdict {
  return { ok: true, rights: { refusal: `The delegation token is refused (${code})` } };
}
