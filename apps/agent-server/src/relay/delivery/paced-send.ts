import type { SendResult } from "@agent/client";
import { limits, type ClientMessage } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";

export type SendMessage = (message: ClientMessage) => SendResult;

/** Left to the socket's own messages: signing in and renewing the token. */
const RESERVED_MESSAGES = 5;

/** Holds back what the relay would count as too many messages; `socket.backlogged` means: later. */
export function createPacedSend(send: SendMessage, runtime: Pick<Runtime, "now">): SendMessage {
  const sentAt: number[] = [];
  return (message) => {
    const now = runtime.now();
    while (sentAt[0] !== undefined && now - sentAt[0] >= limits.socketWindowMs) sentAt.shift();
    if (sentAt.length >= limits.socketMessages - RESERVED_MESSAGES) {
      return { ok: false, code: "socket.backlogged" };
    }
    const result = send(message);
    if (result.ok) sentAt.push(now);
    return result;
  };
}
