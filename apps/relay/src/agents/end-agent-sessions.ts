import { socketClose } from "@agent/wire";
import type { Services } from "../services.ts";

/** Ends the cached tokens of an agent, and closes its sockets or only those of one device. */
export function endAgentSessions(
  { tokens, connections }: Pick<Services, "tokens" | "connections">,
  agentId: string,
  { reason, deviceId }: { readonly reason: string; readonly deviceId?: string | undefined },
): void {
  tokens.evictAgent(agentId);
  for (const connection of connections.forAgent(agentId)) {
    if (deviceId === undefined || connection.deviceId === deviceId) {
      connection.close(socketClose.unauthorized, reason);
    }
  }
}
