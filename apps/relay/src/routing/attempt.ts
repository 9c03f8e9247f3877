import type { Micro } from "@agent/budget";
/** The way of a task to an agent of another relay. */
export interface NextHop {
  /** The peer that receives the task from this relay. */
  readonly relay_id: string;
  /** The agent's key as the peer reported it. */
  readonly public_key: string;
  /** The relays from `self` to the agent. */
  readonly route: readonly string[];
}

/** One executor to try, with the price that it charges. */
export interface Attempt {
  readonly agent_id: string;
  readonly charge: Micro;
  /** The next relay, if the executor is an agent of another relay. */
  readonly via?: NextHop;
}
