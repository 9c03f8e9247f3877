import type { DelegationToken } from "@agent/receipts";

/** A task as this agent received it, over MCP or over the relay's socket. */
export interface WorkTask {
  readonly taskId: string;
  /** The relay's id of the task; present when a relay pays for it. */
  readonly relayTaskId?: string;
  readonly prompt: string;
  readonly requiredCapabilities: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly submittedAt: number;
  /** The agent that pays for the task, if the relay named it. */
  readonly submittedBy?: string;
  /** The price in US dollars, if the relay stated it. */
  readonly estimatedCost?: number;
  /** The time limit that the delegator asked for. */
  readonly wallClockMs?: number;
  /** The only tools that may run, sorted; absent: all of them. */
  readonly scope?: readonly string[];
  /** The time after which no tool may run, in ms since the Unix epoch. */
  readonly scopeExpiresAt?: number;
  /** The valid token that `scope` and `scopeExpiresAt` follow from. */
  readonly delegationToken?: DelegationToken;
}
