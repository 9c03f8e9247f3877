import type { BaseContext, Server } from "@modelcontextprotocol/server";
import * as v from "valibot";
import { protocolErrorOf } from "../protocol-error.ts";
import type { CallAnswer } from "../tools/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";

const prefix = "prompt.";

const ArgumentsSchema = v.object({
  properties: v.record(v.string(), v.object({ description: v.optional(v.string(), "") })),
  required: v.optional(v.array(v.string()), []),
});

/** Answers the `prompts/*` requests of one server object. */
export function servePrompts(
  server: Server,
  definitions: readonly ToolDefinition[],
  get: (name: string, args: unknown, context: BaseContext) => Promise<CallAnswer>,
): void {
  const described = definitions.map((definition) => ({
    name: definition.name.slice(prefix.length),
    description: definition.description,
    arguments: argumentsOf(definition),
  }));
  server.setRequestHandler("prompts/list", () => ({ prompts: described }));
  server.setRequestHandler("prompts/get", async ({ params }, context) => {
    const answer = await get(`${prefix}${params.name}`, params.arguments, context);
    if (!answer.ok) throw protocolErrorOf(answer);
    const content = { type: "text" as const, text: answer.data };
    return { messages: [{ role: "user" as const, content }] };
  });
}

function argumentsOf({ inputSchema }: ToolDefinition) {
  const { properties, required } = v.parse(ArgumentsSchema, inputSchema);
  return Object.entries(properties).map(([name, { description }]) => ({
    name,
    description,
    required: required.includes(name),
  }));
}
