import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { CallCancelled } from "../../execution/abort-reasons.ts";

type RequestId = string | number;

/** The JSON-RPC ids that a session is working on; a second use of one would steal its answer. */
export interface InFlightRequests {
  has(id: RequestId): boolean;
  /** Notes requests that the transport answers. */
  add(ids: readonly RequestId[]): void;
  remove(ids: readonly RequestId[]): void;
  /** Notes a call that is answered past the transport. */
  beginCall(id: RequestId): RunningCall;
  /** Removes an id when its answer leaves through `transport` or its request is cancelled. */
  watch(transport: Transport): void;
  /** Stops the calls that were begun: the session is over. */
  close(): void;
  readonly size: number;
}

export interface RunningCall {
  /** Aborted when the client cancels the call or the session ends; nobody waits for an answer then. */
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
          // A cancelled call may be outlived by a new one of its id.
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

/** The ids of the requests, not notifications, in a parsed body. */
export function listRequestIds(body: unknown): RequestId[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message: unknown) => {
    if (!isObject(message) || typeof message["method"] !== "string") return [];
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
