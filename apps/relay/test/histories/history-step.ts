import type { HistoryRelay } from "./history-relay.ts";

/** Random numbers from which a step chooses what it does. */
export type Picks = readonly [number, number, number, number];

/** One act of an agent, the operator or a payment service. It may be refused. */
export type HistoryStep = (relay: HistoryRelay, picks: Picks) => Promise<unknown>;
