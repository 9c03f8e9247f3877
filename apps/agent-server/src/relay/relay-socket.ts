import { connectSocket, type AgentSocket, type SendResult } from "@agent/client";
import type { ClientMessage, ServerMessage } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import { createFaultLog } from "./fault-log.ts";
import type { Membership } from "./membership/join-relay.ts";
import { NOT_JOINED_REFUSAL } from "./membership/maintain-membership.ts";

/** The connection to the agent's relay, replaced for each membership. */
export interface RelaySocket {
  /** Closes the current connection and opens the next one. */
  openSocket(): void;
  readonly send: (message: ClientMessage) => SendResult;
  close(): void;
}

export function createRelaySocket(parts: {
  url: string;
  agentId: string;
  membership: () => Membership | undefined;
  /** Called when the relay accepts this device; `isReconnect`: after the connection was lost. */
  onReady: (isReconnect: boolean) => void;
  /** Receives each message, including `ready`. */
  onMessage: (message: ServerMessage) => void;
  onDown: () => void;
  onRefused: () => void;
  runtime: Runtime;
}): RelaySocket {
  const { url, agentId, membership, onReady, onMessage, onDown, onRefused, runtime } = parts;
  let socket: AgentSocket | undefined;
  const faults = {
    down: createFaultLog(runtime.log, "info", "socket.down"),
    refused: createFaultLog(runtime.log, "warn", "socket.refused"),
  };

  return {
    openSocket() {
      socket?.close();
      let isReconnect = false;
      socket = connectSocket({
        ...runtime,
        baseUrl: url,
        agentId,
        bearer: async () => membership()?.client.getBearer("socket") ?? NOT_JOINED_REFUSAL,
        onMessage(message) {
          if (message.type === "ready") {
            const ended = Object.values(faults).filter((fault) => fault.clear());
            if (ended.length > 0) runtime.log("info", "socket.up");
            onReady(isReconnect);
            isReconnect = false;
          }
          onMessage(message);
        },
        onDisconnect({ code, status, reason, retryInMs }) {
          isReconnect = true;
          onDown();
          const retry_in_ms = Math.round(retryInMs);
          faults.down.note({ code, status }, { ...(reason !== "" && { reason }), retry_in_ms });
        },
        onRefused({ code, status }) {
          faults.refused.note({ code, status });
          onRefused();
        },
      });
    },
    send: (message) => socket?.send(message) ?? { ok: false, code: "socket.not_ready" },
    close: () => socket?.close(),
  };
}
