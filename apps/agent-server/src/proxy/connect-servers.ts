import { formatError } from "@agent/crypto";
import type { Tool } from "@modelcontextprotocol/client";
import type { Runtime } from "../runtime.ts";
import { isToolName, TOOL_NAME_RULE } from "../tools/tool-name.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { openConfirmedTools, type ConfirmedTools } from "./confirmed-tools.ts";
import { createConnection, type Connection } from "./connection.ts";
import { createProxiedTool } from "./proxied-tool.ts";
import { createServerTools, type ServerTools, type ToolChange } from "./server-tools.ts";
import type { ServerAddress } from "./transport.ts";

/** The part of an invalid tool name that a fault shows. */
const MAX_SHOWN_NAME_CHARACTERS = 64;

export interface ConnectedServers {
  readonly tools: readonly RegisteredTool[];
  /** Lists the tools that differ from those confirmed. */
  changes(): readonly ToolChange[];
  close(): Promise<void>;
}

export type ConnectResult =
  | ({ readonly ok: true } & ConnectedServers)
  | { readonly ok: false; readonly faults: readonly string[] };

type ConnectServerResult =
  | { readonly ok: true; readonly tools: readonly RegisteredTool[] }
  | { readonly ok: false; readonly fault: string };

/**
 * Connects to every configured MCP server and registers its tools under their own names. A server
 * that is unreachable at the start is a fault, because collisions of names must be found before the
 * agent runs. A tool that was never seen is confirmed; one that differs from the confirmed tool is
 * refused.
 */
export async function connectServers(
  servers: Readonly<Record<string, ServerAddress>>,
  options: { version: string; runtime: Runtime; confirmed?: ConfirmedTools },
): Promise<ConnectResult> {
  const { version, runtime, confirmed = openConfirmedTools(undefined, runtime) } = options;
  const connections = Object.entries(servers).map(([name, address]) => {
    const listed = createServerTools(name, confirmed, runtime);
    const onTools = (tools: readonly Tool[]) => listed.update(tools);
    const connection = createConnection({ name, address, version, runtime, onTools });
    return { name, connection, listed };
  });
  const close = async () => {
    await Promise.allSettled(connections.map(({ connection }) => connection.close()));
  };
  const results = await Promise.all(
    connections.map(({ name, ...parts }) => connectServer(name, { ...parts, confirmed, runtime })),
  );
  const faults = results.flatMap((result) => (result.ok ? [] : [result.fault]));
  if (faults.length > 0) {
    await close();
    return { ok: false, faults };
  }
  const tools = results.flatMap((result) => (result.ok ? result.tools : []));
  const changes = () => connections.flatMap(({ listed }) => listed.changes());
  return { ok: true, tools, changes, close };
}

async function connectServer(
  server: string,
  parts: {
    connection: Connection;
    listed: ServerTools;
    confirmed: ConfirmedTools;
    runtime: Runtime;
  },
): Promise<ConnectServerResult> {
  const { connection, listed, confirmed, runtime } = parts;
  const fault = (text: string) => ({ ok: false, fault: `mcpServers.${server}: ${text}` }) as const;
  try {
    const tools = await connection.open();
    const misnamed = tools.find(({ name }) => !isToolName(name));
    if (misnamed !== undefined) {
      const name = JSON.stringify(misnamed.name.slice(0, MAX_SHOWN_NAME_CHARACTERS));
      return fault(`each tool name ${TOOL_NAME_RULE}, but one is ${name}`);
    }
    const newTools = tools.filter(({ name }) => confirmed.get(server, name) === undefined);
    await confirmed.confirm(newTools.map((tool) => [server, tool]));
    listed.update(tools);
    return {
      ok: true,
      tools: tools.map((tool) => createProxiedTool(tool, { server, connection, listed, runtime })),
    };
  } catch (cause) {
    return fault(formatError(cause));
  }
}
