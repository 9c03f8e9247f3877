import { ResourceNotFoundError, type BaseContext, type Server } from "@modelcontextprotocol/server";
import type { CallAnswer } from "../tools/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { protocolErrorOf } from "../protocol-error.ts";

const mimeType = "application/json";

/** Answers the `resources/*` requests of one server object. */
export function serveResources(
  server: Server,
  definitions: readonly ToolDefinition[],
  read: (uri: string, context: BaseContext) => Promise<CallAnswer>,
): void {
  const resources = definitions.map(({ name, description }) => ({
    uri: name,
    name: name.replace("agent://", ""),
    description,
    mimeType,
  }));
  server.setRequestHandler("resources/list", () => ({ resources }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const answer = await read(uri, context);
    if (answer.ok) return { contents: [{ uri, mimeType, text: answer.data }] };
    if (answer.kind === "unknown") throw new ResourceNotFoundError(uri);
    throw protocolErrorOf(answer);
  });
}
