import { isJsonObject } from "@agent/crypto";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { CallCancelled } from "../../execution/abort-reasons.ts";

type RequestId = string | number;

/**
 * The JSON-RPC ids of a session's running requests; a second request with the same id could take
 * the answer of the first.
 */
export interface InFlightRequests {
  has(id: RequestId): boolean;
  /** Adds requests that the transport answers. */
  add(ids: readonly RequestId[]): void;
  remove(ids: readonly RequestId[]): void;
  /** Adds a call that is answered without the transport. */
  beginCall(id: RequestId): RunningCall;
  /** Removes an id when `transport` sends its answer or its request is cancelled. */
  watch(transport: Transport): void;
  /** Aborts the running calls at the end of the session. */
  close(): void;
  readonly size: number;
}

export interface RunningCall {
  /** Aborted when the client cancels the call or the session ends; the answer is then discarded. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

export function createInFlightRequests(): InFlightRequests {
  const running = new Map<RequestId, AbortController | undefined>();
  return {
    has: (id) => running.has(id),
    add: (ids) => ids.forEach((id) => running.set(id, undefined)),
    remove: (ids) => ids.forEach((id) => running.delete(id)),
    beginCall(id) {
      const controller = new AbortController();
      running.set(id, controller);
      return {
        signal: controller.signal,
        end() {
          // After a cancellation a new call may use the same id.
          if (running.get(id) === controller) running.delete(id);
        },
      };
    },
    watch(transport) {
      const send = transport.send.bind(transport);
      transport.send = async (message, options) => {
        const id = getAnsweredId(message);
        if (id !== undefined) running.delete(id);
        await send(message, options);
      };
      const receive = transport.onmessage;
      transport.onmessage = (message, extra) => {
        const id = getCancelledId(message);
        if (id !== undefined) {
          running.get(id)?.abort(new CallCancelled({ byClosing: false }));
          running.delete(id);
        }
        receive?.(message, extra);
      };
    },
    close() {
      for (const controller of running.values()) controller?.abort();
    },
    get size() {
      return running.size;
    },
  };
}

/** Lists the ids of the requests, without notifications, in a parsed body. */
export function listRequestIds(body: unknown): RequestId[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message: unknown) => {
    if (!isJsonObject(message) || typeof message["method"] !== "string") return [];
    const id = message["id"];
    return typeof id === "string" || typeof id === "number" ? [id] : [];
  });
}

function getAnsweredId(message: JSONRPCMessage): RequestId | undefined {
  return "id" in message && !("method" in message) ? message.id : undefined;
}

function getCancelledId(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
