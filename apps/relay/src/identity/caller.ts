/** The caller of a request: anonymous, the operator, or a device of an agent. */
export type Caller = { readonly kind: "anonymous" } | OperatorCaller | AgentCaller;

export interface OperatorCaller {
  readonly kind: "master";
  /** The name in the audit: `operator`, or `operator:1` and `operator:2` while there are two tokens. */
  readonly name: string;
  /** Aborts when the token is removed from the configuration while the relay runs. */
  readonly removed: AbortSignal;
}

export interface AgentCaller {
  readonly kind: "agent";
  readonly agentId: string;
  readonly deviceId: string;
  /** The `jti` of its token. */
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** The expiry of the token, in ms. */
  readonly expiresAt: number;
}

export const anonymousCaller: Caller = { kind: "anonymous" };
/** The relay itself, when it acts for its operator without a request. */
export const operatorCaller: OperatorCaller = {
  kind: "master",
  name: "operator",
  removed: new AbortController().signal,
};

/** Returns the agent that a caller acts for; the operator acts for the agent that the request names. */
export function resolveActingAgent(caller: Caller, named: string | undefined): string | undefined {
  return caller.kind === "agent" ? caller.agentId : named;
}

/** Returns whether the caller may act for one of these agents; the operator acts for all. */
export function mayActFor(caller: Caller, agents: readonly (string | null)[]): boolean {
  return caller.kind === "master" || (caller.kind === "agent" && agents.includes(caller.agentId));
}
