/**
 * Returns the tools that a scope names, separated by commas; whitespace around a name is ignored.
 */
export function parseScope(scope: string): ReadonlySet<string> {
  const names = scope.split(",").map((tool) => tool.trim());
  return new Set(names.filter((tool) => tool !== ""));
}

/** Returns whether the scope names every tool used; an empty scope allows none. */
export function isWithinScope(toolsUsed: Iterable<string>, scope: string): boolean {
  const allowed = parseScope(scope);
  for (const tool of toolsUsed) if (!allowed.has(tool)) return false;
  return true;
}
