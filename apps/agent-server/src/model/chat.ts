import { EventSourceParserStream } from "eventsource-parser/stream";
import * as v from "valibot";
import { answerBody } from "./answer-body.ts";
import { buildModelRefusal, type CallModel, type ModelResult } from "./model-caller.ts";
import { parseJson } from "./parse-json.ts";

export interface ToolRequest {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly toolRequests: readonly ToolRequest[];
    }
  | { readonly role: "tool"; readonly toolRequestId: string; readonly content: string };

export interface ChatTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

export interface ChatAnswer {
  readonly text: string;
  readonly toolRequests: readonly ToolRequest[];
  /** False when the answer was cut at the length limit or filtered. */
  readonly complete: boolean;
}

/** Requests one turn of a model. */
export type Chat = (
  request: { readonly messages: readonly ChatMessage[]; readonly tools: readonly ChatTool[] },
  signal: AbortSignal,
) => Promise<ModelResult<ChatAnswer>>;

const MAX_ANSWER_BYTES = 4_194_304;
const DONE_DATA = "[DONE]";

const ToolCallPart = v.object({
  index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(127))),
  id: v.nullish(v.string()),
  function: v.nullish(v.object({ name: v.nullish(v.string()), arguments: v.nullish(v.string()) })),
});

const MessagePart = v.object({
  content: v.nullish(v.string()),
  tool_calls: v.nullish(v.array(ToolCallPart)),
});

/** A whole answer has a `message`, an event of a stream a `delta` with the same members. */
const AnswerChunk = v.object({
  choices: v.array(
    v.object({
      message: v.optional(MessagePart),
      delta: v.optional(MessagePart),
      finish_reason: v.nullish(v.string()),
    }),
  ),
});

/**
 * Creates a client of chat completions. It requests a stream and also accepts an answer in one
 * piece.
 */
export function createChat(callModel: CallModel): Chat {
  return ({ messages, tools }, signal) => {
    const body = {
      messages: messages.map(toRequestMessage),
      stream: true,
      ...(tools.length > 0 && {
        tools: tools.map((tool) => ({ type: "function", function: tool })),
      }),
    };
    return callModel("/chat/completions", body, readChatAnswer, signal);
  };
}

async function readChatAnswer(response: Response): Promise<ModelResult<ChatAnswer>> {
  const body = answerBody(response, MAX_ANSWER_BYTES);
  const answer = createAnswerCollector();
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    if (!answer.add(await new Response(body).text())) return MALFORMED_REFUSAL;
    return { ok: true, value: answer.value() };
  }
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (data === DONE_DATA) return { ok: true, value: answer.value() };
    if (!answer.add(data)) return MALFORMED_REFUSAL;
  }
  // Not every server sends [DONE]; one that sent its finish reason had finished.
  if (answer.finished()) return { ok: true, value: answer.value() };
  return buildModelRefusal("model.cut_off", "ended its answer early");
}

/** Builds an answer from its pieces. */
function createAnswerCollector() {
  let text = "";
  let reason: string | undefined;
  const requests = new Map<number, { id: string; name: string; arguments: string }>();

  function addRequest(part: v.InferOutput<typeof ToolCallPart>, position: number): void {
    const at = part.index ?? position;
    const request = requests.get(at) ?? { id: "", name: "", arguments: "" };
    request.id ||= part.id ?? "";
    request.name += part.function?.name ?? "";
    request.arguments += part.function?.arguments ?? "";
    requests.set(at, request);
  }

  return {
    finished: () => reason !== undefined,
    /** Adds a piece; returns false when it is malformed. */
    add(json: string): boolean {
      const parsed = v.safeParse(AnswerChunk, parseJson(json));
      if (!parsed.success) return false;
      // The last event of some servers contains only token counts and no choice.
      const [choice] = parsed.output.choices;
      const part = choice?.delta ?? choice?.message;
      text += part?.content ?? "";
      for (const [position, request] of (part?.tool_calls ?? []).entries()) {
        addRequest(request, position);
      }
      reason = choice?.finish_reason ?? reason;
      return true;
    },
    value(): ChatAnswer {
      const toolRequests = [...requests.keys()]
        .toSorted((a, b) => a - b)
        .flatMap((at) => requests.get(at) ?? []);
      const complete = reason !== "length" && reason !== "content_filter";
      return { text, toolRequests, complete };
    },
  };
}

function toRequestMessage(message: ChatMessage): object {
  switch (message.role) {
    case "assistant":
      return {
        role: message.role,
        content: message.content,
        tool_calls: message.toolRequests.map(({ id, ...called }) => ({
          id,
          type: "function",
          function: called,
        })),
      };
    case "tool":
      return { role: message.role, tool_call_id: message.toolRequestId, content: message.content };
    case "system":
    case "user":
      return message;
  }
}

const MALFORMED_REFUSAL = buildModelRefusal("model.malformed", "sent a malformed answer");
