import { McpServer, type CallToolResult, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

/**
 * The tools that the conformance suite requires of every server, as a separate MCP server. The
 * agent under test proxies them, so that every call of the suite passes its policy check.
 */

// The smallest valid PNG and WAV, because the suite checks only types.
const PNG_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV_BASE64 = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const image = { type: "image", data: PNG_BASE64, mimeType: "image/png" } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;
const resource = (name: string, mimeType: string, words: string) =>
  ({ type: "resource", resource: { uri: `test://${name}`, mimeType, text: words } }) as const;

const answers: Readonly<Record<string, CallToolResult>> = {
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: "audio", data: WAV_BASE64, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    content: [resource("embedded-resource", "text/plain", "This is an embedded resource content.")],
  },
  test_multiple_content_types: {
    content: [
      text("Multiple content types test:"),
      image,
      resource("mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: {
    isError: true,
    content: [text("This tool intentionally returns an error for testing")],
  },
};

async function reportProgress({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progress > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    if (progressToken !== undefined) {
      const params = { progressToken, progress, total: 100 };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
  }
  return { content: [text("done")] };
}

serveStdio(() => {
  const server = new McpServer({ name: "conformance-tools", version: "1" });
  for (const [name, answer] of Object.entries(answers)) {
    server.registerTool(name, { description: name }, () => answer);
  }
  server.registerTool("test_tool_with_progress", { description: "Counts to 100" }, reportProgress);
  return server;
});
