/**
 * Builds the agent's MCP URL from the public URL if there is one, otherwise from the listening address,
 * which other programs on this machine can use.
 */
export function buildEndpointUrl(
  publicUrl: string | undefined,
  listening: string | undefined,
): string | undefined {
  if (publicUrl === undefined)
    return listening?.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const base = publicUrl.replace(/\/+$/, "");
  return base.endsWith("/mcp") ? base : `${base}/mcp`;
}
