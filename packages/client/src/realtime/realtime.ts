import { SOCKET_PATH, type ClientMessage, type ServerMessage } from "@agent/wire";
import { buildPath, buildUrl } from "../calls/call-request.ts";
import { createEnvironment, type Environment } from "../environment.ts";
import { decideReconnection, noFailures, type SocketEnd } from "./decide-reconnection.ts";
import type { Bearer } from "../relay-client.ts";
import { openConnection, type SendResult, type SocketConnection } from "./socket-connection.ts";

export interface SocketOptions extends Partial<Omit<Environment, "fetch">> {
  readonly baseUrl: string;
  readonly agentId: string;
  /** Gives a token of scope `socket`: `() => client.getBearer("socket")`. */
  readonly bearer: () => Promise<Bearer>;
  /** What this device can do, told at each connection; without it, what its agent registered. */
  readonly capabilities?: readonly string[];
  /** Every message of the contract; the agent's open tasks come again after each `ready`. */
  readonly onMessage: (message: ServerMessage) => void;
  /** The connection is lost, or was not made, and is tried again in `retryInMs`. */
  readonly onDisconnect?: (end: SocketEnd & { readonly retryInMs: number }) => void;
  /** The relay refused this device three times in a row, and no further try is made. */
  readonly onRefused?: (end: SocketEnd) => void;
}

export interface AgentSocket {
  /**
   * Refused with `socket.not_ready` before the relay's `ready` and between connections, with
   * `socket.too_large` above 1 MiB (such a receipt goes over HTTP), with `socket.backlogged` while 4 MiB
   * wait to be sent.
   */
  readonly send: (message: ClientMessage) => SendResult;
  /** Ends the connection and all trying. */
  readonly close: () => void;
}

/**
 * Keeps an agent's device connected to its relay (docs/decisions.md, 4): signs in, renews its token,
 * notices a dead line, and reconnects after an exponential backoff with full jitter.
 */
export function connectSocket(options: SocketOptions): AgentSocket {
  const environment = createEnvironment(options);
  const { agentId, bearer, capabilities, onMessage } = options;
  const path = buildPath(SOCKET_PATH, { params: { agentId } });
  if (path === null) throw new TypeError("agentId cannot stand in a path");
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

/** Without a token there is no connection to end; the reasons to try again are the same. */
function toSocketEnd(refused: Extract<Bearer, { ok: false }>): SocketEnd {
  const { message, status, retryAfterSeconds } = refused;
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { code: 1_006, reason: message, status, ...wait };
}
