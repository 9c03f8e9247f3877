import { limits, type ClientMessage, type ServerMessage } from "@agent/wire";
import { WebSocket } from "ws";
import type { Environment } from "../environment.ts";
import type { SocketEnd } from "./decide-reconnection.ts";
import type { Bearer } from "../relay-client.ts";
import { readRetryAfterSeconds } from "../calls/retry-after.ts";
import { parseServerMessage } from "./server-message.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;
/**
 * After this silence the relay is pinged, so that a dead connection is detected before the relay's own ping
 * is due.
 */
const SILENCE_BEFORE_PING_MS = 15_000;
/** A relay that is alive may be slow to answer; silence beyond this means that the connection is dead. */
const PONG_TIMEOUT_MS = 15_000;
const TOKEN_CHECK_INTERVAL_MS = 30_000;

/** Whether a message was sent, or the code of the refusal. */
export type SendResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "socket.not_ready" | "socket.too_large" | "socket.backlogged";
    };

export interface ConnectionOptions {
  readonly url: string;
  readonly token: string;
  readonly environment: Environment;
  /** Returns the same token until it must be replaced. */
  readonly bearer: () => Promise<Bearer>;
  readonly onMessage: (message: ServerMessage) => void;
  readonly onEnd: (end: SocketEnd) => void;
}

export interface SocketConnection {
  readonly send: (message: ClientMessage) => SendResult;
  readonly close: () => void;
}

/** Opens one connection: authenticates, sends each new token before the old one expires, ends if silent. */
export function openConnection(options: ConnectionOptions): SocketConnection {
  const { environment, bearer, onMessage, onEnd } = options;
  const { now, schedule } = environment;
  const socket = new WebSocket(options.url, {
    headers: { authorization: `Bearer ${options.token}` },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: limits.socketFrameBytes,
    perMessageDeflate: false,
  });
  let token = options.token;
  let readyAt: number | undefined;
  let refused: Pick<SocketEnd, "status" | "retryAfterSeconds"> = {};
  let cancelSilence = () => {};
  let cancelTokenCheck = () => {};

  function restartSilenceTimer(): void {
    cancelSilence();
    cancelSilence = schedule(SILENCE_BEFORE_PING_MS, () => {
      socket.ping();
      cancelSilence = schedule(PONG_TIMEOUT_MS, () => socket.terminate());
    });
  }

  async function renewToken(): Promise<void> {
    const answer = await bearer();
    if (readyAt === undefined) return;
    if (answer.ok && answer.token !== token) {
      token = answer.token;
      send({ type: "auth", token });
    }
    cancelTokenCheck = schedule(TOKEN_CHECK_INTERVAL_MS, () => void renewToken());
  }

  function send(message: ClientMessage): SendResult {
    if (readyAt === undefined || socket.readyState !== socket.OPEN) {
      return { ok: false, code: "socket.not_ready" };
    }
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > limits.socketFrameBytes) {
      return { ok: false, code: "socket.too_large" };
    }
    if (socket.bufferedAmount > limits.socketBacklogBytes) {
      return { ok: false, code: "socket.backlogged" };
    }
    socket.send(text);
    return { ok: true };
  }

  socket.on("open", restartSilenceTimer);
  socket.on("ping", restartSilenceTimer);
  socket.on("pong", restartSilenceTimer);
  socket.on("message", (data, isBinary) => {
    restartSilenceTimer();
    const message = isBinary ? null : parseServerMessage(decodeText(data));
    if (message === null) return;
    if (message.type === "ready" && readyAt === undefined) {
      readyAt = now();
      cancelTokenCheck = schedule(TOKEN_CHECK_INTERVAL_MS, () => void renewToken());
    }
    onMessage(message);
  });
  socket.on("unexpected-response", (_, { statusCode, headers }) => {
    refused = {
      ...(statusCode !== undefined && { status: statusCode }),
      ...readRetryAfterSeconds(headers["retry-after"], now()),
    };
    socket.terminate();
  });
  // The close event follows with the same reason.
  socket.on("error", () => {});
  socket.on("close", (code, reason) => {
    cancelSilence();
    cancelTokenCheck();
    const ready = readyAt === undefined ? {} : { readyForMs: now() - readyAt };
    readyAt = undefined;
    onEnd({ code, reason: reason.toString(), ...refused, ...ready });
  });

  return { send, close: () => socket.close(1_000) };
}

function decodeText(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}
