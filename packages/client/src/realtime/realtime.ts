import { SOCKET_PATH, type ClientMessage, type ServerMessage } from "@agent/wire";
import { buildPath, buildUrl } from "../calls/call-request.ts";
import { createEnvironment, type Environment } from "../environment.ts";
import { decideReconnection, noFailures, type SocketEnd } from "./decide-reconnection.ts";
import type { Bearer } from "../relay-client.ts";
import { openConnection, type SendResult, type SocketConnection } from "./socket-connection.ts";

/** The relay and the device of a real-time connection, and the functions that it calls. */
export interface SocketOptions extends Partial<Omit<Environment, "fetch">> {
  readonly baseUrl: string;
  readonly agentId: string;
  /** Returns a token of scope `socket`: `() => client.getBearer("socket")`. */
  readonly bearer: () => Promise<Bearer>;
  /** The capabilities of this device, sent at each connection; by default those of its agent. */
  readonly capabilities?: readonly string[];
  /** Called with each message of the contract; the agent's open tasks are sent again after each `ready`. */
  readonly onMessage: (message: ServerMessage) => void;
  /** Called when a connection was lost or failed; the next attempt is in `retryInMs`. */
  readonly onDisconnect?: (end: SocketEnd & { readonly retryInMs: number }) => void;
  /** Called when the relay refused this device three times in a row; no further attempt is made. */
  readonly onRefused?: (end: SocketEnd) => void;
}

/** The real-time connection of a device, which reconnects by itself. */
export interface AgentSocket {
  /**
   * Sends a message. Refused with `socket.not_ready` before the relay's `ready` and between connections,
   * with `socket.too_large` above 1 MiB (submit such a receipt over HTTP), and with `socket.backlogged`
   * while 4 MiB are waiting to be sent.
   */
  readonly send: (message: ClientMessage) => SendResult;
  /** Closes the connection and stops reconnecting. */
  readonly close: () => void;
}

/**
 * Connects an agent's device to its relay (docs/decisions.md, 4): authenticates, renews its token, detects
 * a dead connection, and reconnects after an exponential backoff with full jitter.
 */
export function connectSocket(options: SocketOptions): AgentSocket {
  const environment = createEnvironment(options);
  const { agentId, bearer, capabilities, onMessage } = options;
  const path = buildPath(SOCKET_PATH, { params: { agentId } });
  if (path === null) throw new TypeError("agentId must be a valid path segment");
  const url = buildUrl(options.baseUrl, path).replace(/^http/, "ws");

  let connection: SocketConnection | undefined;
  let failures = noFailures;
  let closed = false;
  let cancelReconnection = () => {};

  async function connect(): Promise<void> {
    const answer = await bearer();
    if (closed) return;
    if (!answer.ok) return handleEnd(toSocketEnd(answer));
    const { token } = answer;
    connection = openConnection({
      url,
      token,
      environment,
      bearer,
      onMessage: handleMessage,
      onEnd: handleEnd,
    });
  }

  function handleMessage(message: ServerMessage): void {
    if (closed) return;
    if (message.type === "ready" && capabilities !== undefined) {
      send({ type: "capabilities", capabilities: [...capabilities] });
    }
    onMessage(message);
  }

  function handleEnd(end: SocketEnd): void {
    connection = undefined;
    if (closed) return;
    const next = decideReconnection(end, failures, environment.randomBytes);
    if (!next.retry) {
      closed = true;
      options.onRefused?.(end);
      return;
    }
    failures = next.failures;
    cancelReconnection = environment.schedule(next.inMs, () => void connect());
    options.onDisconnect?.({ ...end, retryInMs: next.inMs });
  }

  function send(message: ClientMessage): SendResult {
    return connection?.send(message) ?? { ok: false, code: "socket.not_ready" };
  }

  void connect();
  return {
    send,
    close() {
      closed = true;
      cancelReconnection();
      connection?.close();
      connection = undefined;
    },
  };
}

/** Converts a refused token to the end of an attempt, which is retried by the same rules. */
function toSocketEnd(refused: Extract<Bearer, { ok: false }>): SocketEnd {
  const { message, status, retryAfterSeconds } = refused;
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { code: 1_006, reason: message, status, ...wait };
}
