import type { ChatTool } from "../../model/chat.ts";
import type { ToolDefinition } from "../../tools/definition.ts";

/** The tools of a task as a model may name them. */
export interface ModelTools {
  readonly tools: readonly ChatTool[];
  /** The tool's own name; a name that was not offered stays as it is. */
  getOriginalName(offered: string): string;
}

const MAX_NAME_LENGTH = 64;

/** Models know names of 64 letters, digits, `_` and `-`; other names are offered under a like one. */
export function buildModelTools(definitions: readonly ToolDefinition[]): ModelTools {
  const names = new Map<string, string>();
  const tools = definitions.map(({ name, description, inputSchema }) => {
    const offered = findFreeName(name.replace(/[^A-Za-z0-9_-]/g, "_"), names);
    names.set(offered, name);
    return { name: offered, description, parameters: inputSchema };
  });
  return { tools, getOriginalName: (offered) => names.get(offered) ?? offered };
}

function findFreeName(name: string, usedNames: ReadonlyMap<string, string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `_${number}`;
    const candidate = `${name.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`;
    if (!usedNames.has(candidate)) return candidate;
  }
}
