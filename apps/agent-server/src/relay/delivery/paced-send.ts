import type { SendResult } from "@agent/client";
import { limits, type ClientMessage } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";

export type SendMessage = (message: ClientMessage) => SendResult;

/** Reserved for the socket's own messages: authentication and renewal of the token. */
const RESERVED_MESSAGES = 5;

/** Delays messages beyond the relay's rate limit; `socket.backlogged` means to try again later. */
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
