import { randomBytes } from "node:crypto";
import { createTestAgent } from "@agent/testkit";
import type { TestRelay } from "./test-relay.ts";

/** Creates an agent that the relay knows, with an amount on its account. */
export async function createPaidAgent({ operator }: TestRelay, amount: number) {
  const agent = createTestAgent({ now: Date.now, randomBytes });
  const { agentId, publicKey } = agent;
  const body = { agent_id: agentId, public_key: publicKey };
  const joined = await operator.bootstrap({ body });
  if (!joined.ok) throw new Error(joined.code);
  await operator.deposit({ params: { agentId }, body: { amount } });
  return { ...agent, deviceId: joined.body.device_id };
}
