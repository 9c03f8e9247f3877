/** The rule for tool names that every MCP client and model accepts. */
export const TOOL_NAME_RULE = "must be 1 to 128 of A-Z a-z 0-9 _ . -";

export function isToolName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(text);
}
