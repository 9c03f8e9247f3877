import { signSuccession } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

export interface Rotation {
  /** The agent after the rotation, with its new key. */
  readonly next: TestAgent;
  readonly succession: object;
}

/** Builds a rotation to a new key, at the relay's time unless another time is given. */
export function createRotation(
  t: TestRelay,
  agent: TestAgent,
  change: { timestamp?: number; reason?: string; to?: TestAgent } = {},
): Rotation {
  const {
    timestamp = t.clock.now(),
    to: { secretKey, publicKey } = t.createUnknownAgent(),
    reason,
  } = change;
  const succession = signSuccession({
    agent_id: agent.agentId,
    oldSecretKey: agent.secretKey,
    newSecretKey: secretKey,
    timestamp,
    ...(reason !== undefined && { reason }),
  });
  return { next: { ...agent, secretKey, publicKey }, succession };
}

/** Submits a succession; `agent` must still have its old key. */
export type RotationRoute = (t: TestRelay, agent: TestAgent, rotation: Rotation) => Promise<Reply>;

const createClaim = ({ next, succession }: Rotation) => ({
  agent_id: next.agentId,
  public_key: next.publicKey,
  succession,
});

export const rotationRoutes = {
  bootstrap: (t, _, rotation) =>
    t.request("POST", "/api/v1/agents/bootstrap", { body: createClaim(rotation) }),
  register: (t, agent, rotation) =>
    t.as(agent, "POST", "/api/v1/agents/register", {
      ...createClaim(rotation),
      endpoint_url: "http://127.0.0.1:1/mcp",
      capabilities: [],
    }),
  "rotate-key": (t, agent, { succession }) =>
    t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/rotate-key`, { succession }),
  "rotate-key by the operator": (t, agent, { succession }) =>
    t.asOperator("POST", `/api/v1/agents/${agent.agentId}/rotate-key`, { succession }),
} as const satisfies Record<string, RotationRoute>;
