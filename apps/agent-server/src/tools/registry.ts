import type { JsonObject, ToolAnswer, ToolContext, ToolDefinition } from "./definition.ts";

export type CheckedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly fault: string };

/** A tool with the check of its arguments; its handler receives only checked ones. */
export interface RegisteredTool {
  /** The wrapped server of the tool, if it has one. */
  readonly origin?: string;
  /** May change while the agent runs if the tool belongs to a wrapped server. */
  readonly definition: ToolDefinition;
  /** Returns the reason why the tool currently refuses all calls. */
  getRefusal?(): string | undefined;
  check(args: unknown): CheckedArguments;
  handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}

export interface ToolRegistry {
  get(name: string): RegisteredTool | undefined;
  /** All definitions in the order of registration. */
  readonly definitions: readonly ToolDefinition[];
}

/**
 * Creates a registry. Of tools with the same name the first wins; `findNameCollisions` reports them
 * earlier.
 */
export function createRegistry(tools: readonly RegisteredTool[]): ToolRegistry {
  const byName = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    if (!byName.has(tool.definition.name)) byName.set(tool.definition.name, tool);
  }
  return {
    get: (name) => byName.get(name),
    get definitions() {
      return [...byName.values()].map((tool) => tool.definition);
    },
  };
}

interface NamedTool {
  readonly origin?: string;
  readonly definition: Pick<ToolDefinition, "name">;
}

/** Returns a fault for each name that several tools share, because a call would be ambiguous. */
export function findNameCollisions(tools: readonly NamedTool[]): string[] {
  const byName = Map.groupBy(tools, (tool) => tool.definition.name);
  return [...byName].flatMap(([name, sharing]) => {
    if (sharing.length === 1) return [];
    const origins = sharing.flatMap(({ origin }) => origin ?? []);
    const suffix = origins.length === 0 ? "" : ` (${origins.join(", ")})`;
    return [`tool "${name}" is defined ${formatTimes(sharing.length)}${suffix}`];
  });
}

function formatTimes(count: number): string {
  return count === 2 ? "twice" : `${count} times`;
}
