import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Runtime } from "../runtime.ts";

/** The address of another MCP server: a child process or a URL. */
export type ServerAddress =
  | {
      readonly command: string;
      readonly args: readonly string[];
      /**
       * Added to the few variables that every process needs; the agent's own variables are not
       * passed on.
       */
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/**
 * Creates a transport to the server. A process's standard error goes to the debug log and to
 * `onStderr`.
 */
export function createTransport(
  name: string,
  address: ServerAddress,
  runtime: Runtime,
  onStderr: (text: string) => void,
): Transport {
  if ("url" in address) {
    return new StreamableHTTPClientTransport(new URL(address.url), {
      requestInit: { headers: { ...address.headers } },
      fetch: runtime.fetch,
    });
  }
  const { command, args, env } = address;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: "pipe",
  });
  transport.stderr?.on("data", (chunk: Buffer) => {
    const text = chunk.toString();
    runtime.log("debug", "proxy.stderr", { server: name, text: text.trimEnd() });
    onStderr(text);
  });
  return transport;
}
