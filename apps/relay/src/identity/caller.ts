/** The caller of a request: anonymous, the operator, or a device of an agent. */
export type Caller = { readonly kind: "anonymous" } | OperatorCaller | AgentCaller;

export interface OperatorCaller {
  readonly kind: "master";
  /**
   * The name in the audit: `operator`, or `operator:1` and `operator:2` while there are two tokens; of a
   * console session `session:` and its id.
   */
  readonly name: string;
  /** Names the token itself, so that a session ends with the token that it goes back to. */
  readonly tokenTag: string;
  /** Aborts when the token is removed from the configuration, or the session ends, while the relay runs. */
  readonly removed: AbortSignal;
  /** Only of a console session. */
  readonly session?: CallerSession;
}

/** The console session of an operator's page. */
export interface CallerSession {
  readonly id: string;
  readonly level: "view" | "operate";
  /** The expiry of the token, in ms. */
  readonly expiresAt: number;
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
  /**
   * Whether tokens of the agent were revoked since this one was verified: it must then be verified again,
   * and what it has opened ends.
   */
  readonly hasEnded: () => boolean;
}

export const anonymousCaller: Caller = { kind: "anonymous" };
/** The relay itself, when it acts for its operator without a request. */
export const operatorCaller: OperatorCaller = {
  kind: "master",
  name: "operator",
  tokenTag: "",
  removed: new AbortController().signal,
};

/** Returns the time, in ms, from which a caller must show another token; Infinity for the operator's own. */
export function getCallerExpiry(caller: Caller): number {
  if (caller.kind === "agent") return caller.expiresAt;
  return (caller.kind === "master" ? caller.session?.expiresAt : undefined) ?? Infinity;
}

/** Returns whether the token of a caller was removed or revoked since the caller showed it. */
export function hasCallerEnded(caller: Caller): boolean {
  if (caller.kind === "agent") return caller.hasEnded();
  return caller.kind === "master" && caller.removed.aborted;
}

/** Returns the agent that a caller acts for; the operator acts for the agent that the request names. */
export function resolveActingAgent(caller: Caller, named: string | undefined): string | undefined {
  return caller.kind === "agent" ? caller.agentId : named;
}

/** Returns whether the caller may act for one of these agents; the operator acts for all. */
export function mayActFor(caller: Caller, agents: readonly (string | null)[]): boolean {
  return caller.kind === "master" || (caller.kind === "agent" && agents.includes(caller.agentId));
}

/** Returns the id of the agent whose records a caller reads with; "" for one that is no agent. */
export function toReaderId(caller: Caller): string {
  return caller.kind === "agent" ? caller.agentId : "";
}
