import { connectSocket, createRelayClient, type AgentSocket } from "@agent/client";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { ServerMessage } from "@agent/wire";

/** Connects a device of an agent, which reconnects by itself; `seed` spreads the times at which it does. */
export function connectDevice(
  { baseUrl, agent, seed = 1 }: { baseUrl: string; agent: TestAgent; seed?: number },
  onMessage: (message: ServerMessage) => void,
): AgentSocket {
  const world = {
    now: Date.now,
    ...createSeededRandom(seed),
    schedule(ms: number, task: () => void) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
  };
  const client = createRelayClient({ baseUrl, identity: agent, ...world });
  return connectSocket({
    ...world,
    baseUrl,
    agentId: agent.agentId,
    bearer: () => client.getBearer("socket"),
    onMessage,
  });
}
