import type { IncomingMessage, ServerResponse } from "node:http";
import { startLoopbackServer } from "@agent/testkit";

export interface ReceivedRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model?: string;
    readonly stream?: boolean;
    readonly input?: readonly string[];
    readonly messages?: readonly {
      role: string;
      content: string | null;
      [more: string]: unknown;
    }[];
    readonly tools?: readonly { function: { name: string; parameters: unknown } }[];
  };
}

/** Answers one request to the endpoint. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void;

export interface ModelServer {
  /** Includes the version, as in a configuration. */
  readonly baseUrl: string;
  readonly received: readonly ReceivedRequest[];
  /** Sets the answers to the next requests in order; further requests get status 500. */
  setReplies(...replies: Reply[]): void;
  close(): Promise<void>;
}

/** Starts an OpenAI-compatible endpoint on a real socket with the answers of a test. */
export async function startModelServer(): Promise<ModelServer> {
  let received: ReceivedRequest[] = [];
  let replies: Reply[] = [];
  const server = await startLoopbackServer((request, response) => {
    void readBody(request).then((text) => {
      const { url = "", headers } = request;
      const body = JSON.parse(text) as ReceivedRequest["body"];
      const one = { path: url, authorization: headers.authorization, body };
      received.push(one);
      (replies.shift() ?? replyStatus(500))(response, one);
    });
  });
  return {
    baseUrl: `${server.url}/v1`,
    get received() {
      return received;
    },
    setReplies(...given) {
      received = [];
      replies = given;
    },
    close: server.close,
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export function replyStatus(code: number, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: "provider secret sk-123" } }));
  };
}

export function replyJson(value: unknown): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
}

/** Sends the text of a stream, then ends it. */
export function replyStream(text: string): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text);
  };
}

/** Closes the connection of a stream in the middle of an event. */
export function replyCutOff(...deltas: object[]): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const sent = `${deltas.map((delta) => formatEvent(buildDelta(delta))).join("")}data: {"choi`;
    response.write(sent, () => response.destroy());
  };
}

/** Never answers; `onClose` is called when the client disconnects. */
export function neverReply(onClose: () => void = () => {}): Reply {
  return (response) => {
    response.on("close", onClose);
  };
}

/** Sends a model's text in two pieces. */
export function replyText(text: string): Reply {
  const half = Math.ceil(text.length / 2);
  return replyDeltas([{ content: text.slice(0, half) }, { content: text.slice(half) }], "stop");
}

export interface RequestedToolCall {
  readonly name: string;
  readonly arguments: string | object;
  readonly id?: string;
}

/** Sends tool calls whose arguments arrive in pieces, as from models. */
export function replyToolCalls(...calls: RequestedToolCall[]): Reply {
  const pieces = calls.flatMap(({ name, arguments: args, id }, index) => {
    const text = typeof args === "string" ? args : JSON.stringify(args);
    const half = Math.ceil(text.length / 2);
    const first = { index, id: id ?? `id-${index}`, type: "function" };
    return [
      { tool_calls: [{ ...first, function: { name, arguments: "" } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(0, half) } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(half) } }] },
    ];
  });
  return replyDeltas(pieces, "tool_calls");
}

export function replyDeltas(parts: readonly object[], reason: string): Reply {
  const events = parts.map((delta) => formatEvent(buildDelta(delta)));
  const last = formatEvent({ choices: [{ delta: {}, finish_reason: reason }] });
  return replyStream(`${events.join("")}${last}data: [DONE]\n\n`);
}

export function formatEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export function buildDelta(delta: object): object {
  return { choices: [{ index: 0, delta, finish_reason: null }] };
}
