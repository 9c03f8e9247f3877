import {
  isJSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
  type AuthInfo,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Runtime } from "../runtime.ts";

type Id = string | number;

/**
 * Answers single requests of a session as plain JSON, which costs half of a stream of events. What takes
 * longer than a moment becomes such a stream after all, so that the client sees headers in time.
 */
export interface DirectAnswers {
  /** Undefined: a request that only the transport can answer. */
  answer(
    request: Request,
    given: { readonly parsedBody?: unknown; readonly authInfo: AuthInfo },
  ): Promise<Response> | undefined;
  /** The client does not wait any more, and gets no answer. */
  cancel(id: Id): void;
  /** Ends all that waits: the session is over. */
  close(): void;
}

const momentMs = 1_000;
const keepAliveMs = 15_000;

/** Takes answers of its own requests out of what leaves through `transport`. */
export function directAnswers(
  transport: Transport,
  runtime: Pick<Runtime, "schedule">,
): DirectAnswers {
  const waiting = new Map<Id, (message: JSONRPCMessage | undefined) => void>();
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = "id" in message && !("method" in message) ? message.id : options?.relatedRequestId;
    const resolve = id === undefined ? undefined : waiting.get(id);
    if (resolve === undefined) return send(message, options);
    // Nobody asked for notifications on the way, or the transport would have had the request.
    if (!("method" in message)) resolve(message);
  };

  async function ask(message: JSONRPCRequest, given: { authInfo: AuthInfo; request: Request }) {
    const answer = new Promise<JSONRPCMessage | undefined>((resolve) => {
      waiting.set(message.id, resolve);
    }).finally(() => waiting.delete(message.id));
    transport.onmessage?.(message, given);
    const sessionId = transport.sessionId ?? "";

    let cancelTimer = () => {};
    const late = new Promise<"late">((resolve) => {
      cancelTimer = runtime.schedule(momentMs, () => resolve("late"));
    });
    const first = await Promise.race([answer, late]);
    if (first === "late") return asEvents(answer, sessionId, runtime);
    cancelTimer();
    return first === undefined
      ? new Response(null, { status: 202, headers: { "mcp-session-id": sessionId } })
      : new Response(JSON.stringify(first), {
          headers: { "content-type": "application/json", "mcp-session-id": sessionId },
        });
  }

  return {
    answer(request, { parsedBody, authInfo }) {
      if (!isPlain(request, parsedBody)) return undefined;
      return ask(parsedBody, { authInfo, request });
    },
    cancel: (id) => waiting.get(id)?.(undefined),
    close() {
      for (const resolve of waiting.values()) resolve(undefined);
    },
  };
}

/** A single request that wants no progress; whatever is odd about others is the transport's to refuse. */
function isPlain(request: Request, body: unknown): body is JSONRPCRequest {
  const version = request.headers.get("mcp-protocol-version");
  const accept = request.headers.get("accept") ?? "";
  return (
    (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    // What is none to the library it would never answer.
    isJSONRPCRequest(body) &&
    body.method !== "initialize" &&
    body.params?._meta?.progressToken === undefined
  );
}

function asEvents(
  answer: Promise<JSONRPCMessage | undefined>,
  sessionId: string,
  { schedule }: Pick<Runtime, "schedule">,
): Response {
  const encoder = new TextEncoder();
  let cancelNext = () => {};
  let open = true;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = () => {
        controller.enqueue(encoder.encode(": still at it\n\n"));
        cancelNext = schedule(keepAliveMs, beat);
      };
      cancelNext = schedule(keepAliveMs, beat);
      void answer.then((message) => {
        if (!open) return;
        cancelNext();
        if (message !== undefined) {
          const data = `event: message\ndata: ${JSON.stringify(message)}\n\n`;
          controller.enqueue(encoder.encode(data));
        }
        controller.close();
      });
    },
    // The client went away; its request goes on, as MCP wants it.
    cancel() {
      open = false;
      cancelNext();
    },
  });
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "mcp-session-id": sessionId,
    },
  });
}
