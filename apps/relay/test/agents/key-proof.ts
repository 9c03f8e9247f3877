import { sign, toBase64Url } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

/** Builds the proof that an agent holds its key, at the relay's time. */
function createKeyProof(t: Pick<TestRelay, "clock">, agent: TestAgent) {
  const timestamp = t.clock.now();
  const text = `${agent.agentId}:${agent.publicKey}:${timestamp}`;
  return { timestamp, signature: toBase64Url(sign(text, agent.secretKey)) };
}

/** Bootstraps as the published client does. */
export function bootstrapWithProof(t: TestRelay, agent: TestAgent): Promise<Reply> {
  const { agentId: agent_id, publicKey: public_key } = agent;
  return t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id, public_key, proof: createKeyProof(t, agent) },
  });
}

/** Creates another agent with the same key as the given one. */
export function createAgentWithKeyOf(
  t: TestRelay,
  { secretKey, publicKey, did }: TestAgent,
): TestAgent {
  return { ...t.createUnknownAgent(), secretKey, publicKey, did };
}

/** Creates an agent that bound a key without proof and lost it to another agent, which proved it. */
export async function createDisplacedAgent(
  t: TestRelay,
): Promise<{ readonly displaced: TestAgent; readonly holder: TestAgent }> {
  const displaced = await t.createAgent();
  const holder = createAgentWithKeyOf(t, displaced);
  const { status, body } = await bootstrapWithProof(t, holder);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { displaced, holder: { ...holder, deviceId: String(body["device_id"]) } };
}
