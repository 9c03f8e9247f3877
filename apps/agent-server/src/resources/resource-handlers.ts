import { ResourceNotFoundError, type BaseContext, type Server } from "@modelcontextprotocol/server";
import type { CallAnswer } from "../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { toProtocolError } from "../protocol-error.ts";

const MIME_TYPE = "application/json";

type ReadResource = (uri: string, context: BaseContext) => Promise<CallAnswer>;

/**
 * Registers the `resources/*` handlers on server objects; the list is built once for all of them.
 */
export function createResourceHandlers(
  definitions: readonly ToolDefinition[],
): (server: Server, read: ReadResource) => void {
  const resources = definitions.map(({ name, description }) => ({
    uri: name,
    name: name.replace("agent://", ""),
    description,
    mimeType: MIME_TYPE,
  }));

  return (server, read) => {
    server.setRequestHandler("resources/list", () => ({ resources }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const answer = await read(uri, context);
      if (answer.ok) return { contents: [{ uri, mimeType: MIME_TYPE, text: answer.data }] };
      if (answer.kind === "unknown") throw new ResourceNotFoundError(uri);
      throw toProtocolError(answer);
    });
  };
}
