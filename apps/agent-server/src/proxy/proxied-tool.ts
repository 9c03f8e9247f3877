import {
  ProtocolError,
  SdkHttpError,
  type CallToolResult,
  type Client,
  type ContentBlock,
  type Tool,
} from "@modelcontextprotocol/client";
import type { Runtime } from "../runtime.ts";
import type { JsonObject, ToolAnswer, ToolContext, ToolDefinition } from "../tools/definition.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { shapeOf, type ToolShape } from "./confirmed-tools.ts";
import type { Connection } from "./connection.ts";
import type { ServerTools } from "./server-tools.ts";

/** A call ends by its signal; the library's own limit only has to be longer than any task. */
const noLimitMs = 86_400_000;

/**
 * A tool of another MCP server under its own name. Its server judges the arguments, because it may use
 * schema features that nobody here knows.
 */
export function proxiedTool(
  tool: Tool,
  parts: { server: string; connection: Connection; listed: ServerTools; runtime: Runtime },
): RegisteredTool {
  const { server, connection, listed, runtime } = parts;
  const { name } = tool;

  async function handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> {
    const client = await connection.client(context.signal);
    if (client === undefined) return noAnswer(name);
    try {
      return toAnswer(await call(client, args, context));
    } catch (cause) {
      if (cause instanceof ProtocolError) return { ok: false, error: cause.message };
      runtime.log("warn", "proxy.call_failed", { server, tool: name, cause: String(cause) });
      return noAnswer(name);
    }
  }

  async function call(
    client: Client,
    args: JsonObject,
    context: ToolContext,
  ): Promise<CallToolResult> {
    try {
      return await send(client, args, context);
    } catch (cause) {
      if (!isForgottenSession(client, cause)) throw cause;
      connection.renew(client);
      const fresh = await connection.client(context.signal);
      if (fresh === undefined) throw cause;
      return send(fresh, args, context);
    }
  }

  function send(
    client: Client,
    args: JsonObject,
    { signal, progress }: ToolContext,
  ): Promise<CallToolResult> {
    return client.callTool(
      { name, arguments: { ...args } },
      {
        signal,
        timeout: noLimitMs,
        ...(progress !== undefined && { onprogress: progress }),
      },
    );
  }

  return {
    origin: `MCP server "${server}"`,
    get definition() {
      return toDefinition(name, listed.shown(name) ?? shapeOf(tool));
    },
    refusal() {
      const refusal = listed.refusalOf(name);
      return refusal === undefined ? undefined : `Policy denied: ${refusal}`;
    },
    check: (args) =>
      isObject(args) ? { ok: true, args } : { ok: false, fault: "must be an object" },
    handler,
  };
}

function toDefinition(name: string, shape: ToolShape): ToolDefinition {
  const { description = "", title, inputSchema, outputSchema, annotations } = shape;
  return {
    name,
    description,
    inputSchema,
    ...(title !== undefined && { title }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** After a restart: the call was refused before it began, so it may be sent again. */
function isForgottenSession(client: Client, cause: unknown): boolean {
  if (client.transport?.sessionId === undefined || !(cause instanceof SdkHttpError)) return false;
  // 404 by the specification, 400 by the servers that were made after its first examples.
  return cause.status === 404 || cause.status === 400;
}

function noAnswer(name: string): ToolAnswer {
  return { ok: false, error: `The server behind tool "${name}" gave no answer` };
}

function toAnswer({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const text = content.map(textOf).join("\n");
  const rich = {
    content,
    ...(isObject(structuredContent) && { structuredContent }),
  };
  return isError === true ? { ok: false, error: text, ...rich } : { ok: true, data: text, ...rich };
}

/** For receipts and executors, which take text only. */
function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    case "resource_link":
      return `[resource ${block.uri}]`;
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}]`;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
