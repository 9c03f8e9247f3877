import type { TrustLevel } from "@agent/wire";

/**
 * The sender of a request. It is passed along with each request and never stored in shared state,
 * so that concurrent callers cannot get each other's rights.
 */
export type Caller =
  /**
   * The holder of the static token, the process on stdio, or any caller of an explicitly open
   * loopback.
   */
  | { readonly kind: "owner" }
  /** The agent's relay, identified by its own signed token or over its socket. */
  | { readonly kind: "relay"; readonly relayId: string }
  | { readonly kind: "agent"; readonly agentId: string; readonly trust: TrustLevel };

export const owner: Caller = { kind: "owner" };

/** Returns a text that is unique per caller; a session belongs to the key that opened it. */
export function callerKey(caller: Caller): string {
  switch (caller.kind) {
    case "owner":
      return "owner";
    case "relay":
      return `relay:${caller.relayId}`;
    case "agent":
      return `agent:${caller.agentId}`;
  }
}

/**
 * Returns "trusted" for the owner and the agent's relay, and the earned level for another agent.
 */
export function getTrustLevel(caller: Caller): TrustLevel {
  return caller.kind === "agent" ? caller.trust : "trusted";
}
