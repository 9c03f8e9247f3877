import type { TrustLevel } from "@agent/wire";

/**
 * Who sent a request. It is passed along with each request and never kept in shared state, so that
 * two callers at once cannot take each other's rights.
 */
export type Caller =
  /** Holder of the static token, the process on stdio, or anybody on an explicitly open loopback. */
  | { readonly kind: "owner" }
  /** The home relay, by its own signed token or over its socket. */
  | { readonly kind: "relay"; readonly relayId: string }
  | { readonly kind: "agent"; readonly agentId: string; readonly trust: TrustLevel };

export const owner: Caller = { kind: "owner" };

/** One text per caller; a session belongs to the key that opened it. */
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

/** The owner and the home relay are trusted; another agent has the level that was earned. */
export function getTrustLevel(caller: Caller): TrustLevel {
  return caller.kind === "agent" ? caller.trust : "trusted";
}
