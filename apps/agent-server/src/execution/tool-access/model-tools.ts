import type { ChatTool } from "../../model/chat.ts";
import type { ToolDefinition } from "../../tools/definition.ts";

/** The tools of a task under names that a model accepts. */
export interface ModelTools {
  readonly tools: readonly ChatTool[];
  /** Returns the tool's own name; an unknown name is returned unchanged. */
  getOriginalName(modelName: string): string;
}

const MAX_NAME_LENGTH = 64;

/** Renames tools for models, which accept names of at most 64 letters, digits, `_` and `-`. */
export function buildModelTools(definitions: readonly ToolDefinition[]): ModelTools {
  const names = new Map<string, string>();
  const tools = definitions.map(({ name, description, inputSchema }) => {
    const modelName = findFreeName(name.replace(/[^A-Za-z0-9_-]/g, "_"), names);
    names.set(modelName, name);
    return { name: modelName, description, parameters: inputSchema };
  });
  return { tools, getOriginalName: (modelName) => names.get(modelName) ?? modelName };
}

function findFreeName(name: string, usedNames: ReadonlyMap<string, string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `_${number}`;
    const candidate = `${name.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`;
    if (!usedNames.has(candidate)) return candidate;
  }
}
