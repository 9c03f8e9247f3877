import { ResourceNotFoundError, type BaseContext, type Server } from "@modelcontextprotocol/server";
import type { CallAnswer } from "../tools/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { protocolErrorOf } from "../protocol-error.ts";

const mimeType = "application/json";

type Read = (uri: string, context: BaseContext) => Promise<CallAnswer>;

/** Has server objects answer the `resources/*` requests; the list is made once for all of them. */
export function resourceService(
  definitions: readonly ToolDefinition[],
): (server: Server, read: Read) => void {
  const resources = definitions.map(({ name, description }) => ({
    uri: name,
    name: name.replace("agent://", ""),
    description,
    mimeType,
  }));

  return (server, read) => {
    server.setRequestHandler("resources/list", () => ({ resources }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const answer = await read(uri, context);
      if (answer.ok) return { contents: [{ uri, mimeType, text: answer.data }] };
      if (answer.kind === "unknown") throw new ResourceNotFoundError(uri);
      throw protocolErrorOf(answer);
    });
  };
}
