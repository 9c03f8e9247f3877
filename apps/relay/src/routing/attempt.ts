import type { NextHop } from "../federation/discovery/list-remote-candidates.ts";

/** One executor to try, with the price that it charges, in micro-units. */
export interface Attempt {
  readonly agent_id: string;
  readonly charge: number;
  /** How a task comes to an agent of another relay. */
  readonly via?: NextHop;
}
