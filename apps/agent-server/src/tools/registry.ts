import type { JsonObject, ToolAnswer, ToolContext, ToolDefinition } from "./definition.ts";

export type CheckedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly fault: string };

/** A tool that knows how to check its arguments; a handler only sees checked ones. */
export interface RegisteredTool {
  readonly definition: ToolDefinition;
  check(args: unknown): CheckedArguments;
  handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}

export interface ToolRegistry {
  get(name: string): RegisteredTool | undefined;
  /** In the order of registration. */
  readonly definitions: readonly ToolDefinition[];
}

/** Of two tools with one name the first is kept; `duplicateNames` finds them before. */
export function createRegistry(tools: readonly RegisteredTool[]): ToolRegistry {
  const byName = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    if (!byName.has(tool.definition.name)) byName.set(tool.definition.name, tool);
  }
  return {
    get: (name) => byName.get(name),
    definitions: [...byName.values()].map((tool) => tool.definition),
  };
}

/** Names that more than one tool has: a caller could not tell which of them answers. */
export function duplicateNames(tools: readonly RegisteredTool[]): string[] {
  const names = tools.map((tool) => tool.definition.name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
