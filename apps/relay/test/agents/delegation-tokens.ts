import {
  attenuateDelegationToken,
  signDelegationToken,
  type Attenuation,
  type DelegationToken,
  type DelegationTokenBody,
} from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { TestRelay } from "../test-relay.ts";

type Delegate = Pick<TestAgent, "agentId">;

/** Issues a token that is valid for an hour and 5 dollars; `change` is signed too, even if it is invalid. */
export function issueToken(
  t: TestRelay,
  issuer: TestAgent,
  delegate: Delegate,
  change: Partial<DelegationTokenBody> = {},
): DelegationToken {
  const now = t.clock.now();
  const body = {
    token_id: "token",
    issuer_agent_id: issuer.agentId,
    issuer_public_key: issuer.publicKey,
    delegate_agent_id: delegate.agentId,
    scope: "read, count",
    max_budget: 5,
    not_before: now,
    expires_at: now + 3_600_000,
    ...change,
  };
  return signDelegationToken(body, issuer.secretKey);
}

/** Attenuates the token for another agent, as the token's holder. */
export function attenuateToken(
  parent: DelegationToken,
  holder: TestAgent,
  delegate: Delegate,
  change: Partial<Attenuation> = {},
): DelegationToken {
  const to = { token_id: "child", delegate_agent_id: delegate.agentId };
  return attenuateDelegationToken(parent, { ...to, ...change }, holder);
}

/** Builds a chain of `length` tokens between two agents; the payer issues the last one to the worker. */
export function createTokenChain(
  t: TestRelay,
  payer: TestAgent,
  worker: TestAgent,
  length: number,
): DelegationToken {
  const turns = Array.from({ length }, (_, i) =>
    (length - i) % 2 === 1 ? ([payer, worker] as const) : ([worker, payer] as const),
  );
  const [[from, to] = [payer, worker], ...rest] = turns;
  return rest.reduce(
    (parent, [holder, next], i) => attenuateToken(parent, holder, next, { token_id: `token ${i}` }),
    issueToken(t, from, to),
  );
}
