/**
 * The MCP address under which others reach this agent: below the public URL where there is one, else
 * where it listens, which other programs on this machine can use.
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
