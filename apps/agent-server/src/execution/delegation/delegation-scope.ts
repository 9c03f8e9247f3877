import {
  parseDelegationChain,
  type DelegationToken,
  getEffectiveRight,
  isWithinScope,
  verifyDelegationToken,
} from "@agent/receipts";
import type { Identity } from "../../identity/identity.ts";
import type { WorkTask } from "../task.ts";

/**
 * Returns an agent's valid keys, 64 hex digits each; an agent without keys is trusted with nothing.
 */
export type GetIssuerKeys = (agentId: string) => Promise<readonly string[]>;

/** The rights that a task's token leaves, or the reason why the task must not run. */
export interface DelegationScope {
  /** The effective scope, sorted; absent without a token or with an invalid one. */
  readonly scope?: readonly string[];
  readonly scopeExpiresAt?: number;
  readonly delegationToken?: DelegationToken;
  readonly refusal?: string;
}

export type CheckDelegation = (
  token: unknown,
  task: Pick<WorkTask, "requiredCapabilities">,
) => Promise<DelegationScope>;

/** The effective scope is part of the receipt, which must stay far below the limit of a request. */
const MAX_TOKEN_BYTES = 65_536;

/**
 * Checks the delegation token, a value or its JSON text, that came with a task. Without `keysOf`
 * only this agent itself is known as an issuer.
 */
export function createDelegationCheck(parts: {
  identity: Identity;
  keysOf: GetIssuerKeys | undefined;
  now: () => number;
}): CheckDelegation {
  const { identity, keysOf = async () => [], now } = parts;

  return async (value, { requiredCapabilities }) => {
    if (value === undefined || value === null) return {};
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (Buffer.byteLength(text) > MAX_TOKEN_BYTES) return refuseToken("delegation.malformed");
    const chain = parseDelegationChain(text) ?? [];
    const verifyWithKeys = (keys: ReadonlyMap<string, readonly string[]>) =>
      verifyDelegationToken(text, {
        now: now(),
        delegateId: identity.agentId,
        listKeys: (agentId) => keys.get(agentId) ?? [],
      });

    // Reject structurally invalid tokens before the lookup of issuer keys, so that junk cannot
    // trigger relay requests.
    const selfVerdict = verifyWithKeys(collectClaimedKeys(chain));
    if (!selfVerdict.valid) return refuseToken(selfVerdict.code);
    const verdict = verifyWithKeys(await loadIssuerKeys(chain));
    if (!verdict.valid) return refuseToken(verdict.code);

    const [delegationToken] = chain;
    if (delegationToken === undefined) return refuseToken("delegation.malformed");
    const { tools, expiresAt: scopeExpiresAt } = getEffectiveRight(chain);
    const scope = [...tools].toSorted();
    const delegationScope = { scope, scopeExpiresAt, delegationToken };
    return isWithinScope(requiredCapabilities, scope.join(","))
      ? delegationScope
      : {
          ...delegationScope,
          refusal: "A required capability is outside the scope of the delegation",
        };
  };

  async function loadIssuerKeys(chain: readonly DelegationToken[]) {
    const issuers = new Set(chain.map((token) => token.issuer_agent_id));
    const keys = [...issuers].map(
      async (agentId) =>
        [
          agentId,
          agentId === identity.agentId ? [identity.publicKey] : await keysOf(agentId),
        ] as const,
    );
    return new Map(await Promise.all(keys));
  }
}

function collectClaimedKeys(
  chain: readonly DelegationToken[],
): ReadonlyMap<string, readonly string[]> {
  const claimed = Map.groupBy(chain, (token) => token.issuer_agent_id);
  return new Map(
    [...claimed].map(([agentId, tokens]) => [agentId, tokens.map((one) => one.issuer_public_key)]),
  );
}

function refuseToken(code: string): DelegationScope {
  return { refusal: `The delegation token is refused (${code})` };
}
