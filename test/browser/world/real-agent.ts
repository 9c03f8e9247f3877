import {
  type AgentSocket,
  bootstrapAgent,
  connectSocket,
  createRelayClient,
  type DeviceIdentity,
  type RelayClient,
} from "@agent/client";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { bytesToHex, generateKeyPair, getPublicKey, publicKeyToDidKey } from "@agent/crypto";
import type { ReceiptBody } from "@agent/receipts";
import type { ServerMessage } from "@agent/wire";

type AssignedTask = Extract<ServerMessage, { type: "task_assigned" }>["task"];

/** An agent with its own key and client, and with a socket if it works. */
export interface RealAgent extends DeviceIdentity {
  readonly client: RelayClient;
  readonly close: () => void;
}

export interface AgentPlan {
  /** By default the id that is derived from its key. */
  readonly agentId?: string;
  readonly name: string;
  readonly description?: string;
  readonly endpoint?: string;
  readonly capability?: string;
  readonly price?: number;
  /** Answers a task; without this function the agent accepts none. */
  readonly answer?: (task: AssignedTask, agent: RealAgent) => Promise<Partial<ReceiptBody>>;
}

/** Returns the body of a successful answer, or throws the refusal. */
export function unwrapBody<Body>(
  answer:
    | { readonly ok: true; readonly body: Body }
    | { readonly ok: false; readonly code: string; readonly message: string },
): Body {
  if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
  return answer.body;
}

/** Joins a relay: registers, lists a price and connects. */
export async function joinRelay(baseUrl: string, plan: AgentPlan): Promise<RealAgent> {
  const { secretKey } = generateKeyPair(crypto.getRandomValues(new Uint8Array(32)));
  const named = plan.agentId === undefined ? {} : { agentId: plan.agentId };
  const joined = await bootstrapAgent({ baseUrl, secretKey, ...named });
  if (!joined.ok) throw new Error(joined.message);
  const { identity } = joined;
  const client = createRelayClient({ baseUrl, identity });
  const sockets: AgentSocket[] = [];
  const agent: RealAgent = {
    ...identity,
    client,
    close: () => sockets.forEach((socket) => socket.close()),
  };
  const { name, description = "", capability, price = 0 } = plan;
  const { agentId: agent_id } = identity;
  const capabilities = capability === undefined ? [] : [capability];
  const endpoint_url = plan.endpoint ?? "https://agents.example/mcp";
  const metadata = { name, description };
  unwrapBody(
    await client.registerAgent({ body: { agent_id, endpoint_url, capabilities, metadata } }),
  );
  if (capability !== undefined) {
    const body = { capabilities, description, pricing: [{ capability, unit_cost: price }] };
    unwrapBody(await client.putListing({ params: identity, body }));
  }
  if (plan.answer !== undefined) sockets.push(await connectWorker(baseUrl, agent, plan.answer));
  return agent;
}

function connectWorker(
  baseUrl: string,
  agent: RealAgent,
  answer: NonNullable<AgentPlan["answer"]>,
): Promise<AgentSocket> {
  return new Promise((resolve) => {
    const socket = connectSocket({
      baseUrl,
      agentId: agent.agentId,
      bearer: () => agent.client.getBearer("socket"),
      onMessage(message) {
        if (message.type === "ready") resolve(socket);
        if (message.type !== "task_assigned") return;
        const { task } = message;
        socket.send({ type: "claim", task_id: task.task_id });
        void answer(task, agent).then((changes) => {
          const receipt = { ...createReceipt(toSigner(agent), task, changes) };
          socket.send({ type: "result", task_id: task.task_id, receipt });
        });
      },
    });
  });
}

function toSigner(agent: RealAgent): TestAgent {
  const publicKey = getPublicKey(agent.secretKey);
  return { ...agent, publicKey: bytesToHex(publicKey), did: publicKeyToDidKey(publicKey) };
}
