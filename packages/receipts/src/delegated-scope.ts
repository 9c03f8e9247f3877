/** Whether every tool used is named in the comma-separated scope; an empty scope allows none. */
export function staysInScope(toolsUsed: readonly string[], scope: string): boolean {
  const allowed = new Set(scope.split(",").map((tool) => tool.trim()));
  return toolsUsed.every((tool) => allowed.has(tool));
}
