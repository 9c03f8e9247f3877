import type { BaseContext, Server } from "@modelcontextprotocol/server";
import * as v from "valibot";
import { toProtocolError } from "../protocol-error.ts";
import type { CallAnswer } from "../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";

const NAME_PREFIX = "prompt.";

const ArgumentsSchema = v.object({
  properties: v.record(v.string(), v.object({ description: v.optional(v.string(), "") })),
  required: v.optional(v.array(v.string()), []),
});

type GetPrompt = (name: string, args: unknown, context: BaseContext) => Promise<CallAnswer>;

/** Registers the `prompts/*` handlers on server objects; the list is built once for all of them. */
export function createPromptHandlers(
  definitions: readonly ToolDefinition[],
): (server: Server, get: GetPrompt) => void {
  const prompts = definitions.map((definition) => ({
    name: definition.name.slice(NAME_PREFIX.length),
    description: definition.description,
    arguments: listArguments(definition),
  }));

  return (server, get) => {
    server.setRequestHandler("prompts/list", () => ({ prompts }));
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      const answer = await get(`${NAME_PREFIX}${params.name}`, params.arguments, context);
      if (!answer.ok) throw toProtocolError({ ...answer, error: namePromptInError(answer.error) });
      const content = { type: "text" as const, text: answer.data };
      return { messages: [{ role: "user" as const, content }] };
    });
  };
}

/** Renames the prompt in an error, because the shared call path names it as a tool. */
function namePromptInError(error: string): string {
  return error.replace(`tool "${NAME_PREFIX}`, 'prompt "');
}

function listArguments({ inputSchema }: ToolDefinition) {
  const { properties, required } = v.parse(ArgumentsSchema, inputSchema);
  return Object.entries(properties).map(([name, { description }]) => ({
    name,
    description,
    required: required.includes(name),
  }));
}
