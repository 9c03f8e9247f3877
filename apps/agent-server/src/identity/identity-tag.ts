/**
 * Formats the last line of every tool result, which names the agent (specification, "Identity
 * tag").
 */
export function formatIdentityTag(identity: { agentId: string; publicKey: string }): string {
  return `[agent:${identity.agentId.slice(0, 8)} key:${identity.publicKey.slice(0, 16)}]`;
}
