import type { NextHop } from "../federation/discovery/list-remote-candidates.ts";

/** One executor to try, with the price that it charges, in micro-units. */
export interface Attempt {
  readonly agent_id: string;
  readonly charge: number;
  /** The next relay, if the executor is an agent of another relay. */
  readonly via?: NextHop;
}
