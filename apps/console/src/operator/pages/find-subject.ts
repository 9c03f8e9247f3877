/** Matches in text that may be truncated; a match within another string is impossible, as its quotes are escaped. */
const AGENT_ID = /"agentId":"([^"\\]+)"/;

/**
 * Finds the agent that an entry of the audit is about: the author of an agent's own action, or the agent that an
 * operator's request names; undefined if the entry is about the relay.
 */
export function findSubject({
  agent_id,
  detail,
}: {
  readonly agent_id: string | null;
  readonly detail: string | null;
}): string | undefined {
  return agent_id ?? AGENT_ID.exec(detail ?? "")?.[1];
}
