/** Finds it in text that may be cut; inside of another text its quotation marks are escaped. */
const AGENT_ID = /"agentId":"([^"\\]+)"/;

/**
 * Finds the agent that an entry of the audit is about: that of an agent's own act, or the one that an operator's
 * request names; undefined where it is about the relay.
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
