import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { ToolDefinition } from "../definition.ts";

/** `definitions` is asked at each call: the list holds this tool too. */
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
