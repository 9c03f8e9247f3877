import { connectSocket, type AgentSocket, type SendResult } from "@agent/client";
import type { ClientMessage, ServerMessage } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Membership } from "./membership/join-relay.ts";
import { notJoinedRefusal } from "./membership/maintain-membership.ts";

/** The connection to the home relay, made anew for each membership. */
export interface HomeSocket {
  /** Ends the last connection and makes the next one. */
  openSocket(): void;
  readonly send: (message: ClientMessage) => SendResult;
  close(): void;
}

export function createHomeSocket(parts: {
  url: string;
  agentId: string;
  membership: () => Membership | undefined;
  /** The relay let this device in; `again`: after the connection was lost. */
  onReady: (again: boolean) => void;
  /** Told of each message, the one that says ready included. */
  onMessage: (message: ServerMessage) => void;
  onDown: () => void;
  onRefused: () => void;
  runtime: Runtime;
}): HomeSocket {
  const { url, agentId, membership, onReady, onMessage, onDown, onRefused, runtime } = parts;
  let socket: AgentSocket | undefined;

  return {
    openSocket() {
      socket?.close();
      let isReconnect = false;
      socket = connectSocket({
        ...runtime,
        baseUrl: url,
        agentId,
        bearer: async () => membership()?.client.getBearer("socket") ?? notJoinedRefusal,
        onMessage(message) {
          if (message.type === "ready") {
            onReady(isReconnect);
            isReconnect = false;
          }
          onMessage(message);
        },
        onDisconnect({ code, retryInMs }) {
          isReconnect = true;
          onDown();
          runtime.log("info", "socket.down", { code, retry_in_ms: Math.round(retryInMs) });
        },
        onRefused({ code, status }) {
          runtime.log("warn", "socket.refused", { code, status });
          onRefused();
        },
      });
    },
    send: (message) => socket?.send(message) ?? { ok: false, code: "socket.not_ready" },
    close: () => socket?.close(),
  };
}
