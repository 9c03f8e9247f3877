import { isJsonObject } from "@agent/crypto";
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
import { getToolShape, type ToolShape } from "./confirmed-tools.ts";
import type { Connection } from "./connection.ts";
import type { ServerTools } from "./server-tools.ts";

/** The server was reconnected during a call, and its tool is not the one that the owner confirmed. */
class ToolChangedError extends Error {}

/** A call ends by its signal; the library's own limit must only exceed that of any task. */
const MAX_CALL_MS = 86_400_000;

/**
 * Creates a tool that calls another MCP server. That server validates the arguments, because it may
 * use schema features that are unknown here.
 */
export function createProxiedTool(
  tool: Tool,
  parts: { server: string; connection: Connection; listed: ServerTools; runtime: Runtime },
): RegisteredTool {
  const { server, connection, listed, runtime } = parts;
  const { name } = tool;

  function getRefusal(): string | undefined {
    const refusal = listed.getRefusal(name);
    return refusal === undefined ? undefined : `Policy denied: ${refusal}`;
  }

  async function handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> {
    const client = await connection.getClient(context.signal);
    if (client === undefined) return buildNoAnswer(name);
    try {
      return toAnswer(await call(client, args, context));
    } catch (cause) {
      if (cause instanceof ProtocolError || cause instanceof ToolChangedError) {
        return { ok: false, error: cause.message };
      }
      runtime.log("warn", "proxy.call_failed", { server, tool: name, cause: String(cause) });
      return buildNoAnswer(name);
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
      if (!isLostSession(client, cause)) throw cause;
      connection.reconnect(client);
      const reconnected = await connection.getClient(context.signal);
      if (reconnected === undefined) throw cause;
      return send(reconnected, args, context);
    }
  }

  /** Refuses a changed tool here, because its server may have been connected again since the policy asked. */
  async function send(
    client: Client,
    args: JsonObject,
    { signal, progress }: ToolContext,
  ): Promise<CallToolResult> {
    const refusal = getRefusal();
    if (refusal !== undefined) throw new ToolChangedError(refusal);
    return client.callTool(
      { name, arguments: { ...args } },
      {
        signal,
        timeout: MAX_CALL_MS,
        ...(progress !== undefined && { onprogress: progress }),
      },
    );
  }

  return {
    origin: `MCP server "${server}"`,
    get definition() {
      return toDefinition(name, listed.getConfirmedShape(name) ?? getToolShape(tool));
    },
    getRefusal,
    check: (args) =>
      isJsonObject(args) ? { ok: true, args } : { ok: false, fault: "must be an object" },
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

/**
 * Returns whether the server restarted and refused the call before it began, so that it may be sent
 * again.
 */
function isLostSession(client: Client, cause: unknown): boolean {
  if (client.transport?.sessionId === undefined || !(cause instanceof SdkHttpError)) return false;
  // The specification demands 404; servers built after its first examples answer 400.
  return cause.status === 404 || cause.status === 400;
}

function buildNoAnswer(name: string): ToolAnswer {
  return { ok: false, error: `The server behind tool "${name}" gave no answer` };
}

function toAnswer({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const text = content.map(formatBlock).join("\n");
  const rich = {
    content,
    ...(isJsonObject(structuredContent) && { structuredContent }),
  };
  return isError === true ? { ok: false, error: text, ...rich } : { ok: true, data: text, ...rich };
}

/** Formats a block as text for receipts and executors. */
function formatBlock(block: ContentBlock): string {
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
