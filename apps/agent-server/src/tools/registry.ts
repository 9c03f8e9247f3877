import type { JsonObject, ToolAnswer, ToolContext, ToolDefinition } from "./definition.ts";

export type CheckedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly fault: string };

/** A tool that knows how to check its arguments; a handler only sees checked ones. */
export interface RegisteredTool {
  /** Where it comes from, if from another server. */
  readonly origin?: string;
  /** May change while the agent runs, where another server has the say. */
  readonly definition: ToolDefinition;
  /** Why no call is taken at the moment, whoever calls. */
  getRefusal?(): string | undefined;
  check(args: unknown): CheckedArguments;
  handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}

export interface ToolRegistry {
  get(name: string): RegisteredTool | undefined;
  /** In the order of registration. */
  readonly definitions: readonly ToolDefinition[];
}

/** Of two tools with one name the first is kept; `findNameCollisions` finds them before. */
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

/** A fault for each name that more than one tool has: a caller could not tell which of them answers. */
export function findNameCollisions(tools: readonly NamedTool[]): string[] {
  const byName = Map.groupBy(tools, (tool) => tool.definition.name);
  return [...byName].flatMap(([name, sharing]) => {
    if (sharing.length === 1) return [];
    const origins = sharing.flatMap(({ origin }) => origin ?? []);
    const where = origins.length === 0 ? "" : ` (${origins.join(", ")})`;
    return [`tool "${name}" is defined ${formatTimes(sharing.length)}${where}`];
  });
}

function formatTimes(count: number): string {
  return count === 2 ? "twice" : `${count} times`;
}
