import { bytesToHex } from "@agent/crypto";
import { TASK_ORIGIN } from "@agent/wire";
import {
  SdkError,
  SdkErrorCode,
  Server,
  type BaseContext,
  type CallToolResult,
} from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import { withDeadline } from "./execution/deadline.ts";
import { CallCancelled } from "./execution/abort-reasons.ts";
import { hasUnreadArguments } from "./http/authentication/caller-info.ts";
import { createPromptHandlers } from "./prompts/prompt-handlers.ts";
import { createResourceHandlers } from "./resources/resource-handlers.ts";
import type { Runtime } from "./runtime.ts";
import type { CallAnswer, CallTool } from "./tools/calling/call-tool.ts";
import { readTaskOrigin } from "./relay/intake/read-task-origin.ts";
import { UNREAD_ARGUMENTS } from "./tools/calling/check-argument-size.ts";
import type { ToolContext, ToolDefinition } from "./tools/definition.ts";

export interface McpServerParts {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly identityTag: string;
  readonly definitions: () => readonly ToolDefinition[];
  readonly callTool: CallTool;
  readonly resources: readonly ToolDefinition[];
  readonly prompts: readonly ToolDefinition[];
  /** Calls resources and prompts as `callTool` calls tools. */
  readonly callReadable: CallTool;
  readonly taskTimeoutMs: number;
  readonly runtime: Runtime;
}

/** Handles `tools/call` as a server object does, without the cost of creating one. */
export type AnswerCall = (
  call: { readonly name: string; readonly arguments?: unknown },
  caller: Caller,
  of: { readonly cancel: AbortSignal; readonly requestKey: string },
) => Promise<CallToolResult>;

export interface McpServers {
  /** Creates one MCP server object, for one session, one request or one stdio connection. */
  readonly newServer: (callerOf: (context: BaseContext) => Caller) => Server;
  readonly answerCall: AnswerCall;
}

/**
 * Creates MCP servers with their own `tools/*` handlers, so that each result, refusal and
 * validation error ends with the identity tag.
 */
export function createMcpServers(parts: McpServerParts): McpServers {
  const { callTool, callReadable, taskTimeoutMs, runtime } = parts;
  const serveResources = createResourceHandlers(parts.resources);
  const servePrompts = createPromptHandlers(parts.prompts);
  const tagBlock = { type: "text" as const, text: parts.identityTag };
  const listTools = () =>
    parts.definitions().map(({ risk: _risk, inputSchema, outputSchema, ...rest }) => ({
      ...rest,
      inputSchema: { ...inputSchema, type: "object" as const },
      ...(outputSchema !== undefined && {
        outputSchema: { ...outputSchema, type: "object" as const },
      }),
    }));

  function toResult(answer: CallAnswer): CallToolResult {
    const text = answer.ok ? answer.data : answer.error;
    const { content = [{ type: "text" as const, text }], structuredContent } = answer;
    return {
      content: [...content, tagBlock],
      ...(structuredContent !== undefined && { structuredContent }),
      ...(!answer.ok && { isError: true }),
    };
  }

  async function call(
    callWith: CallTool,
    { name, arguments: args }: { name: string; arguments?: unknown },
    contextParts: Omit<ToolContext, "signal">,
    cancel: AbortSignal,
  ) {
    // These have their own limit, and need more time after it to sign or to verify the receipt.
    const ms = callsWithTask.has(name) ? taskTimeoutMs + 10_000 : taskTimeoutMs;
    const timed = await withDeadline({ runtime, ms, cancel }, (signal) =>
      callWith(name, args, { ...contextParts, signal }),
    );
    if (timed.ok) return timed.value;
    const error = timed.reason === "timeout" ? `did not finish within ${ms} ms` : "was cancelled";
    return { ok: false, kind: "aborted", error: `Tool "${name}" ${error}` } as const;
  }

  const answerCall: AnswerCall = async (params, caller, { cancel, requestKey }) =>
    toResult(await call(callTool, params, { caller, requestKey }, cancel));

  function newServer(callerOf: (context: BaseContext) => Caller): Server {
    const nameRequest = createRequestNames(runtime);
    const server = new Server(
      { name: parts.name, version: parts.version },
      {
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions: parts.description,
      },
    );
    server.setRequestHandler("tools/list", () => ({ tools: listTools() }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const contextParts = {
        requestKey: nameRequest(context),
        ...createCallerContext(callerOf(context), context),
        ...createProgressContext(context, runtime),
      };
      const { signal } = context.mcpReq;
      const cancel = callsWithTask.has(params.name) ? createCancelSignal(signal, context) : signal;
      const asked = hasUnreadArguments(context)
        ? { ...params, arguments: UNREAD_ARGUMENTS }
        : params;
      return toResult(await call(callTool, asked, contextParts, cancel));
    });
    const callReadableFor = (name: string, args: unknown, context: BaseContext) =>
      call(
        callReadable,
        { name, arguments: args },
        { caller: callerOf(context) },
        context.mcpReq.signal,
      );
    serveResources(server, (uri, context) => callReadableFor(uri, {}, context));
    servePrompts(server, callReadableFor);
    return server;
  }

  return { newServer, answerCall };
}

/** The tools that wait for the end of a task. */
const callsWithTask: ReadonlySet<string> = new Set(["agent_task", "delegate_task"]);

/** Formats the name of a request that is equal when a client repeats it in its session. */
export function formatRequestKey(sessionId: string, requestId: string | number): string {
  return `${sessionId} ${JSON.stringify(requestId)}`;
}

/** Identifies the requests of one server object, by a random name if its connection has no session id. */
function createRequestNames({ randomBytes }: Pick<Runtime, "randomBytes">) {
  let connectionId: string | undefined;
  return ({ sessionId, mcpReq }: BaseContext): string => {
    connectionId ??= bytesToHex(randomBytes(16));
    return formatRequestKey(sessionId ?? connectionId, mcpReq.id);
  };
}

/**
 * Distinguishes the cancellation of a call from the end of its session. Without sessions MCP treats
 * a closed request as its cancellation.
 */
function createCancelSignal(signal: AbortSignal, { sessionId }: BaseContext): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener(
    "abort",
    () => {
      const reason: unknown = signal.reason;
      const byClosing =
        reason instanceof SdkError && reason.code === (SdkErrorCode.ConnectionClosed as string);
      const isSessionEnd = byClosing && sessionId !== undefined;
      controller.abort(isSessionEnd ? reason : new CallCancelled({ byClosing }));
    },
    { once: true },
  );
  return controller.signal;
}

/** Returns the caller and, if it is the relay, what it states about the task that it sends. */
function createCallerContext(
  caller: Caller,
  { mcpReq }: BaseContext,
): Pick<ToolContext, "caller" | "origin"> {
  const origin = readTaskOrigin(caller, mcpReq._meta?.[TASK_ORIGIN]);
  return { caller, ...(origin !== undefined && { origin }) };
}

/** Sends progress only to a client that sent a progress token. */
function createProgressContext(
  { mcpReq }: BaseContext,
  { log }: Pick<Runtime, "log">,
): Pick<ToolContext, "progress"> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};
  return {
    progress(progress) {
      const params = { ...progress, progressToken };
      mcpReq.notify({ method: "notifications/progress", params }).catch((cause: unknown) => {
        log("debug", "progress.not_sent", { cause: String(cause) });
      });
    },
  };
}
