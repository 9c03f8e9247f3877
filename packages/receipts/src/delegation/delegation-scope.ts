/** The tools that a scope names: comma-separated, blanks around a name do not count. */
export function parseScope(scope: string): ReadonlySet<string> {
  const names = scope.split(",").map((tool) => tool.trim());
  return new Set(names.filter((tool) => tool !== ""));
}

/** Whether every tool used is named in the scope; an empty scope allows none. */
export function isWithinScope(toolsUsed: Iterable<string>, scope: string): boolean {
  const allowed = parseScope(scope);
  for (const tool of toolsUsed) if (!allowed.has(tool)) return false;
  return true;
}
