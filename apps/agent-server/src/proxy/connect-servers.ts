import type { Client } from "@modelcontextprotocol/client";
import type { Runtime } from "../runtime.ts";
import { isToolName, toolNameRule } from "../tools/tool-name.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { createConnection, type Connection } from "./connection.ts";
import { proxiedTool } from "./proxied-tool.ts";
import type { ServerAddress } from "./transport.ts";

export interface ConnectedServers {
  readonly tools: readonly RegisteredTool[];
  close(): Promise<void>;
}

export type ConnectResult =
  | ({ readonly ok: true } & ConnectedServers)
  | { readonly ok: false; readonly faults: readonly string[] };

type OneResult =
  | { readonly ok: true; readonly tools: readonly RegisteredTool[] }
  | { readonly ok: false; readonly fault: string };

/**
 * Connects to every configured MCP server and takes over its tools under their own names. One that
 * cannot be reached at the start is a fault: its names have to be known before anybody else's.
 */
export async function connectServers(
  servers: Readonly<Record<string, ServerAddress>>,
  options: { version: string; runtime: Runtime },
): Promise<ConnectResult> {
  const { runtime } = options;
  const connections = Object.entries(servers).map(([name, address]) => ({
    name,
    connection: createConnection({ name, address, ...options }),
  }));
  const close = async () => {
    await Promise.allSettled(connections.map(({ connection }) => connection.close()));
  };
  const results = await Promise.all(
    connections.map(({ name, connection }) => openOne(name, connection, runtime)),
  );
  const faults = results.flatMap((result) => (result.ok ? [] : [result.fault]));
  if (faults.length > 0) {
    await close();
    return { ok: false, faults };
  }
  return { ok: true, tools: results.flatMap((result) => (result.ok ? result.tools : [])), close };
}

async function openOne(
  server: string,
  connection: Connection,
  runtime: Runtime,
): Promise<OneResult> {
  const fault = (text: string) => ({ ok: false, fault: `mcpServers.${server}: ${text}` }) as const;
  let client: Client;
  try {
    client = await connection.open();
  } catch (cause) {
    return fault(`cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  try {
    const { tools } = await client.listTools();
    const unfit = tools.find(({ name }) => !isToolName(name));
    if (unfit !== undefined) return fault(`the name of each of its tools ${toolNameRule}`);
    return {
      ok: true,
      tools: tools.map((tool) => proxiedTool(tool, { server, connection, runtime })),
    };
  } catch (cause) {
    return fault(
      `does not list its tools: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}
