/** Who makes a request: nobody known, the operator, or a device of an agent. */
export type Caller = { readonly kind: "anonymous" } | OperatorCaller | AgentCaller;

export interface OperatorCaller {
  readonly kind: "master";
  /** What the audit calls it: `operator`, or `operator:1` and `operator:2` while there are two tokens. */
  readonly name: string;
  /** Fires when the token is taken out of the configuration while the relay runs. */
  readonly removed: AbortSignal;
}

export interface AgentCaller {
  readonly kind: "agent";
  readonly agentId: string;
  readonly deviceId: string;
  /** The `jti` of its token. */
  readonly tokenId: string;
  readonly scopes: ReadonlySet<string>;
  /** When the token ends, in ms. */
  readonly expiresAt: number;
}

export const anonymousCaller: Caller = { kind: "anonymous" };
/** The relay itself, where it acts for its operator without a request. */
export const operatorCaller: OperatorCaller = {
  kind: "master",
  name: "operator",
  removed: new AbortController().signal,
};

/** The agent in whose name a caller acts; the operator acts for whom the request names. */
export function resolveActingAgent(caller: Caller, named: string | undefined): string | undefined {
  return caller.kind === "agent" ? caller.agentId : named;
}

/** Whether the caller may speak for one of these agents; the operator speaks for all. */
export function mayActFor(caller: Caller, agents: readonly (string | null)[]): boolean {
  return caller.kind === "master" || (caller.kind === "agent" && agents.includes(caller.agentId));
}
