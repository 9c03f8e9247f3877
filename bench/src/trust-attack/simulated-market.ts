import { asMicro, splitFee, toMicro } from "@agent/budget";
import {
  applyTaskOutcome,
  computeRecordLatency,
  computeUsedFees,
  countsForStrangers,
  createTrustRecord,
  getTrustScore,
  Graph,
  rank,
  selectDisplayedLevel,
  type Candidate,
  type PayerRecord,
  type RankedCandidate,
  type TrustLevel,
  type TrustRecord,
  type TrustThresholds,
} from "@agent/routing-semiring";

const FEE_RATE = 0.05;

/** With these thresholds, strangers are shown the level that two payers hold, whatever the fees. */
export const WITHOUT_FEES: TrustThresholds = { verified: 0, trusted: 0 };

export interface SimulatedListing {
  readonly price: number;
  readonly latencyMs: number;
}

interface Pair {
  record: TrustRecord;
  feesKept: number;
  paidTasks: number;
}

interface History {
  successes: number;
  counted: number;
}

/** The part of a relay by which strangers rate agents, built from the real rules. */
export class SimulatedMarket {
  readonly listings = new Map<string, SimulatedListing>();
  readonly remote: Candidate[] = [];
  readonly #thresholds: TrustThresholds;
  readonly #graph = new Graph();
  readonly #pairs = new Map<string, Map<string, Pair>>();
  readonly #histories = new Map<string, History>();
  readonly #feesPaid = new Map<string, number>();
  readonly #feesUsed = new Map<string, number>();

  constructor(thresholds: TrustThresholds) {
    this.#thresholds = thresholds;
  }

  /** Completes or fails one task, and returns the fee that the relay keeps, in micro-units. */
  work(payer: string, worker: string, price: number, status: "completed" | "failed"): number {
    const { fee } = splitFee(asMicro(toMicro(price)), FEE_RATE);
    const kept = status === "completed" ? fee : 0;
    const pair = this.#pairOf(payer, worker);
    pair.record = applyTaskOutcome(pair.record, { status, latencyMs: 1_000, now: 0 });
    pair.feesKept += kept;
    pair.paidTasks += status === "completed" && price > 0 ? 1 : 0;
    const payerFees = (this.#feesPaid.get(payer) ?? 0) + kept;
    this.#feesPaid.set(payer, payerFees);
    const usedFees = this.#feesUsed.get(payer) ?? 0;
    const task = { priced: price > 0, hasFailed: status === "failed", fee, payerFees, usedFees };
    if (countsForStrangers(task, this.#thresholds)) {
      this.#feesUsed.set(payer, usedFees + computeUsedFees(task, this.#thresholds));
      const history = this.historyOf(worker);
      history.counted += 1;
      history.successes += status === "completed" ? 1 : 0;
      this.#histories.set(worker, history);
    }
    const { trust_score: trust } = pair.record;
    this.#graph.addEdge(payer, worker, { trust, cost: 0, latency: 0, reliability: 1 });
    return kept;
  }

  /** Returns the level in one agent's record of another. */
  pairLevel(payer: string, worker: string): TrustLevel {
    return this.#pairs.get(worker)?.get(payer)?.record.trust_level ?? "unknown";
  }

  historyOf(worker: string): History {
    return this.#histories.get(worker) ?? { successes: 0, counted: 0 };
  }

  /** Returns the level that is shown to an asker without a record of the agent. */
  levelOf(worker: string): TrustLevel {
    const held = [...(this.#pairs.get(worker)?.values() ?? [])].map(
      ({ record, feesKept, paidTasks }): PayerRecord => ({
        level: record.trust_level,
        feesKept,
        paidTasks,
      }),
    );
    return selectDisplayedLevel(null, held, this.#thresholds);
  }

  /** Ranks all agents with a listing for an asker, which may be an unknown agent. */
  rankFor(asker: string): RankedCandidate[] {
    const local = Array.from(this.listings, ([id, listing]) =>
      this.#candidateOf(asker, id, listing),
    );
    return rank([...local, ...this.remote], { graph: this.#graph, from: asker }).ranked;
  }

  #candidateOf(asker: string, agent_id: string, listing: SimulatedListing): Candidate {
    const own = this.#pairs.get(agent_id)?.get(asker)?.record;
    const { successes, counted } =
      own === undefined
        ? this.historyOf(agent_id)
        : {
            successes: own.successful_tasks,
            counted: own.successful_tasks + own.failed_tasks,
          };
    const trust_score = getTrustScore(own?.trust_level ?? this.levelOf(agent_id));
    const { price, latencyMs: promisedMs } = listing;
    const measuredMs = counted > 0 ? promisedMs : null;
    return {
      agent_id,
      capabilities: [],
      unit_cost: price,
      trust_score,
      blocked: false,
      successes,
      counted,
      avg_latency_ms: computeRecordLatency({
        successes,
        counted,
        trustScore: trust_score,
        measuredMs,
        promisedMs,
      }),
      listing_latency_ms: promisedMs,
      online: true,
      availability_guarantee: null,
    };
  }

  #pairOf(payer: string, worker: string): Pair {
    const pairs = this.#pairs.get(worker) ?? new Map<string, Pair>();
    this.#pairs.set(worker, pairs);
    const pair = pairs.get(payer) ?? {
      record: createTrustRecord(payer, worker, 0),
      feesKept: 0,
      paidTasks: 0,
    };
    pairs.set(payer, pair);
    return pair;
  }
}
