import type { DelegationToken } from "@agent/receipts";

/** Work as this agent was given it, over MCP or over the relay's socket. */
export interface WorkTask {
  readonly taskId: string;
  /** The relay's id of the task; present when a relay pays for it. */
  readonly relayTaskId?: string;
  readonly prompt: string;
  readonly requiredCapabilities: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly submittedAt: number;
  /** The agent that pays for it, where the relay said so. */
  readonly submittedBy?: string;
  /** The delegator's hint of how long it may take. */
  readonly wallClockMs?: number;
  /** The only tools that may run, sorted; absent: all of them. */
  readonly scope?: readonly string[];
  /** From when on no tool may run any more, in ms since the Unix epoch. */
  readonly scopeExpiresAt?: number;
  /** The valid token that both follow from. */
  readonly delegationToken?: DelegationToken;
}
