import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { ToolDefinition } from "../definition.ts";

/**
 * Creates the tool that lists all tools. `definitions` is called each time, because the list
 * includes this tool.
 */
export function agentToolsTool(definitions: () => readonly ToolDefinition[]) {
  return defineTool({
    name: "agent_tools",
    description: "The tools of this agent with their risk, 0 (read) to 4 (money).",
    risk: 0,
    input: v.object({}),
    run: () => ({
      ok: true,
      data: JSON.stringify(
        definitions().map(({ name, description, risk }) => ({
          name,
          description,
          risk: risk ?? null,
        })),
      ),
    }),
  });
}
