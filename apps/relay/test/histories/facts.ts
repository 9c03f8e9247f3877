import type { TestAgent } from "@agent/testkit";

/** An agent of a history. */
export interface Party extends TestAgent {
  /** The agent under its key before the last rotation. */
  readonly former: TestAgent | null;
  readonly revoked: boolean;
}

export interface CardPayment {
  readonly id: string;
  readonly agentId: string;
  readonly cents: number;
  /** Whether the relay has the money, from the processor or by a deposit of the operator. */
  isCredited: boolean;
}

/** The tasks that one name of delegation tokens pays for, and the largest budget of the name in micro-units. */
export interface TokenUse {
  budget: number;
  readonly taskIds: string[];
}

/** The knowledge of agents and operator about a relay's money; a restored relay goes back to that of its backup. */
export interface Facts {
  parties: Party[];
  /** Credited by the operator or the card processor, or received from a peer, in micro-units. */
  deposited: number;
  /** Sent to a peer outside the relay, in micro-units. */
  paidToPeer: number;
  readonly cards: CardPayment[];
  readonly tokens: Record<string, TokenUse>;
  /** The highest price that each submission accepted, in micro-units. */
  readonly maxBudgets: Record<string, number>;
}

export function createFacts(): Facts {
  return { parties: [], deposited: 0, paidToPeer: 0, cards: [], tokens: {}, maxBudgets: {} };
}
