import {
  delegationChain,
  type DelegationToken,
  effectiveRight,
  staysInScope,
  verifyDelegationToken,
} from "@agent/receipts";
import type { Identity } from "../identity.ts";
import type { WorkTask } from "./task.ts";

/** The keys in force of an agent, 64 hex digits each; none: nothing that it issued is believed. */
export type KeysOf = (agentId: string) => Promise<readonly string[]>;

/** What a task's token leaves open, or why nothing of the task may run. */
export interface Mandate {
  /** The effective scope, sorted; absent without a token or with an invalid one. */
  readonly scope?: readonly string[];
  readonly mandateEndsAt?: number;
  readonly delegationToken?: DelegationToken;
  readonly refusal?: string;
}

export type ReadMandate = (
  token: unknown,
  task: Pick<WorkTask, "requiredCapabilities">,
) => Promise<Mandate>;

/** The effective scope goes into the receipt, which has to stay far below the limit of a request. */
const maxTokenBytes = 65_536;

/**
 * Judges the delegation token, a value or its JSON text, that came with a task. Only an agent that
 * stands in the token for itself is known without `keysOf`.
 */
export function createMandates(parts: {
  identity: Identity;
  keysOf: KeysOf | undefined;
  now: () => number;
}): ReadMandate {
  const { identity, keysOf = async () => [], now } = parts;

  return async (value, { requiredCapabilities }) => {
    if (value === undefined || value === null) return {};
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (Buffer.byteLength(text) > maxTokenBytes) return refused("delegation.malformed");
    const chain = delegationChain(text) ?? [];
    const judge = (keys: ReadonlyMap<string, readonly string[]>) =>
      verifyDelegationToken(text, {
        now: now(),
        delegateId: identity.agentId,
        keysOf: (agentId) => keys.get(agentId) ?? [],
      });

    // Nobody makes this agent ask the relay with a token that is refused whoever its issuers are.
    const intact = judge(claimedKeys(chain));
    if (!intact.valid) return refused(intact.code);
    const verdict = judge(await boundKeys(chain));
    if (!verdict.valid) return refused(verdict.code);

    const [delegationToken] = chain;
    if (delegationToken === undefined) return refused("delegation.malformed");
    const { tools, expiresAt: mandateEndsAt } = effectiveRight(chain);
    const scope = [...tools].toSorted();
    const mandate = { scope, mandateEndsAt, delegationToken };
    return staysInScope(requiredCapabilities, scope.join(","))
      ? mandate
      : { ...mandate, refusal: "A required capability is outside the scope of the delegation" };
  };

  async function boundKeys(chain: readonly DelegationToken[]) {
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

function claimedKeys(chain: readonly DelegationToken[]): ReadonlyMap<string, readonly string[]> {
  const claimed = Map.groupBy(chain, (token) => token.issuer_agent_id);
  return new Map(
    [...claimed].map(([agentId, tokens]) => [agentId, tokens.map((one) => one.issuer_public_key)]),
  );
}

function refused(code: string): Mandate {
  return { refusal: `The delegation token is refused (${code})` };
}
