import type { SendResult } from "@agent/client";
import { limits, type ClientMessage } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";
import { createPace } from "./pace.ts";

export type SendMessage = (message: ClientMessage) => SendResult;

/** Reserved for the socket's own messages: authentication and renewal of the token. */
const RESERVED_MESSAGES = 5;

/** Delays messages beyond the relay's rate limit; `socket.backlogged` means to try again later. */
export function createPacedSend(send: SendMessage, runtime: Pick<Runtime, "now">): SendMessage {
  const { socketMessages, socketWindowMs: windowMs } = limits;
  const pace = createPace({ limit: socketMessages - RESERVED_MESSAGES, windowMs }, runtime);
  return (message) => {
    if (!pace.isFree()) return { ok: false, code: "socket.backlogged" };
    const result = send(message);
    if (result.ok) pace.count();
    return result;
  };
}
