import {
  connectSocket,
  createRelayClient,
  type AgentSocket,
  type SocketOptions,
} from "@agent/client";
import type { TestAgent } from "./agents.ts";

export interface DeviceOptions extends Pick<
  SocketOptions,
  "baseUrl" | "onMessage" | "onDisconnect"
> {
  readonly agent: TestAgent;
}

/** Connects the device of an agent on the real clock; it reconnects automatically. */
export function connectDevice({ agent, ...options }: DeviceOptions): AgentSocket {
  const client = createRelayClient({ baseUrl: options.baseUrl, identity: agent });
  const bearer = () => client.getBearer("socket");
  return connectSocket({ ...options, agentId: agent.agentId, bearer });
}
