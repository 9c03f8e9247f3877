import { createAdaptorServer } from "@hono/node-server";
import {
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
} from "@modelcontextprotocol/server";

/** Measures a session of the official server with one trivial tool and nothing else. */
const transport = new WebStandardStreamableHTTPServerTransport({
  sessionIdGenerator: () => crypto.randomUUID(),
});
const mcp = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
mcp.setRequestHandler("tools/list", () => ({
  tools: [{ name: "echo", description: "", inputSchema: { type: "object" as const } }],
}));
mcp.setRequestHandler("tools/call", ({ params }): CallToolResult => {
  const text = String(params.arguments?.["text"]);
  return { content: [{ type: "text", text }] };
});
await mcp.connect(transport);

const server = createAdaptorServer({ fetch: (request) => transport.handleRequest(request) });
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`{"port":${address.port}}\n`);
  }
});
process.on("SIGTERM", () => process.exit(0));
