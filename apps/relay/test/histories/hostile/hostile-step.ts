import type { HistoryRelay } from "../history-relay.ts";
import type { Picks } from "../history-step.ts";
import type { HostilePeer } from "./hostile-peer.ts";

/** An honest relay and its hostile peers, with what its operator has granted them. */
export interface HostileHistory {
  readonly relay: HistoryRelay;
  readonly peers: readonly HostilePeer[];
  /** The highest credit limit of each peer, in micro-units. */
  readonly granted: Map<string, number>;
  /** The defaults that the operator has written off, in micro-units. */
  readonly cleared: Map<string, number>;
}

/** One act of a hostile peer, or of the honest relay's operator towards it. */
export type HostileStep = (
  history: HostileHistory,
  peer: HostilePeer,
  picks: Picks,
) => Promise<unknown>;
