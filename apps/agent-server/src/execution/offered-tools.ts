import type { ChatTool } from "../model/chat.ts";
import type { ToolDefinition } from "../tools/definition.ts";

/** The tools of a task as a model may name them. */
export interface OfferedTools {
  readonly tools: readonly ChatTool[];
  /** The tool's own name; a name that was not offered stays as it is. */
  nameOf(offered: string): string;
}

const longestName = 64;

/** Models know names of 64 letters, digits, `_` and `-`; other names are offered under a like one. */
export function offerTools(definitions: readonly ToolDefinition[]): OfferedTools {
  const names = new Map<string, string>();
  const tools = definitions.map(({ name, description, inputSchema }) => {
    const offered = freeName(name.replace(/[^A-Za-z0-9_-]/g, "_"), names);
    names.set(offered, name);
    return { name: offered, description, parameters: inputSchema };
  });
  return { tools, nameOf: (offered) => names.get(offered) ?? offered };
}

function freeName(name: string, taken: ReadonlyMap<string, string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `_${number}`;
    const candidate = `${name.slice(0, longestName - suffix.length)}${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
