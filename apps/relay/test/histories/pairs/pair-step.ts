import type { Picks } from "../history-step.ts";
import type { HistoryPair, Site } from "./history-pair.ts";

/** One act at one of two relays, or between them. */
export type PairStep = (pair: HistoryPair, site: Site, picks: Picks) => Promise<unknown>;
