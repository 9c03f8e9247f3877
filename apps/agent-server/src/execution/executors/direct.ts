import { isJsonObject } from "@agent/crypto";
import type { ToolDefinition } from "../../tools/definition.ts";
import { buildFailedOutcome, type Executor, type Outcome } from "../executor.ts";

/**
 * Calls one tool without planning, with the prompt as its only string argument (specification, "direct
 * mode"): the first one for a required capability, otherwise the first of all.
 */
export const directExecutor: Executor = {
  async execute(task, toolbox): Promise<Outcome> {
    const [tool = toolbox.tools[0]] = task.requiredCapabilities.flatMap((one) =>
      toolbox.toolsFor(one),
    );
    if (tool === undefined) return buildFailedOutcome("This agent has no tools");

    const parameter = findPromptParameter(tool);
    if (parameter === undefined) {
      return buildFailedOutcome(`Tool "${tool.name}" has no text parameter for the prompt`);
    }

    const answer = await toolbox.call(tool.name, { [parameter]: task.prompt });
    if (answer.ok) return { status: "completed", result: answer.data };
    return { status: answer.kind === "denied" ? "denied" : "failed", result: answer.error };
  },
};

/** Returns the first required string parameter, otherwise the first string parameter. */
export function findPromptParameter(tool: Pick<ToolDefinition, "inputSchema">): string | undefined {
  const { properties, required } = tool.inputSchema;
  const names = isJsonObject(properties)
    ? Object.keys(properties).filter((name) => isText(properties[name]))
    : [];
  const requiredNames: unknown[] = Array.isArray(required) ? required : [];
  return (
    requiredNames.filter((name) => typeof name === "string").find((name) => names.includes(name)) ??
    names[0]
  );
}

function isText(schema: unknown): boolean {
  return isJsonObject(schema) && schema["type"] === "string";
}
