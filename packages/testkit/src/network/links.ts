import type { Delivery } from "@agent/federation-protocol/delivery";
import type { SeededRandom } from "../random.ts";
import type { EventQueue } from "./event-queue.ts";

/** A relay's answer; `code` as in an error body. */
export interface Reply {
  readonly status: number;
  readonly code?: string;
  readonly body?: unknown;
}

/** One end of a link. */
export interface NetworkNode {
  readonly id: string;
  readonly isDown: boolean;
  /** Counts restarts; answers to requests from before a restart are discarded. */
  readonly epoch: number;
  readonly receive: (
    from: string,
    path: string,
    body: unknown,
    reply: (reply: Reply) => void,
  ) => void;
}

/** The probability, from 0 to 1, of each event for a message. */
export interface NetworkConditions {
  readonly loseRequest: number;
  readonly loseAnswer: number;
  readonly duplicate: number;
  /** A delay of seconds, so that later messages overtake it. */
  readonly slow: number;
  /** A delay beyond the lifetime of a signed message. */
  readonly verySlow: number;
  /** A proxy answers 503 although the relay has processed the request. */
  readonly misreport: number;
}

const noFaults: NetworkConditions = {
  loseRequest: 0,
  loseAnswer: 0,
  duplicate: 0,
  slow: 0,
  verySlow: 0,
  misreport: 0,
};

const TIMEOUT_MS = 10_000;

/**
 * The links between relays: requests and answers, each delayed or lost independently. Messages are delivered
 * unchanged and with their true sender, so relays here do not verify the signatures of requests.
 */
export class Links {
  conditions: NetworkConditions = noFaults;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #cuts = new Map<string, { readonly until: number; readonly isNoticed: boolean }>();

  constructor(queue: EventQueue, random: SeededRandom) {
    this.#queue = queue;
    this.#random = random;
  }

  /**
   * Cuts the link from `from` to `to` for a time; the other direction keeps working. The sender either notices
   * that there is no connection or waits in vain.
   */
  cut(from: string, to: string, ms: number, isNoticed: boolean): void {
    this.#cuts.set(`${from} ${to}`, { until: this.#queue.now + ms, isNoticed });
  }

  restore(): void {
    this.conditions = noFaults;
    this.#cuts.clear();
  }

  /** Sends a request; calls `ended` once with the outcome, unless the sender has crashed in the meantime. */
  send(
    from: NetworkNode,
    to: NetworkNode,
    path: string,
    body: unknown,
    ended: (delivery: Delivery, body: unknown) => void,
  ): void {
    const { epoch } = from;
    let isOver = false;
    const end = (delivery: Delivery, answer?: unknown) => {
      if (isOver || from.isDown || from.epoch !== epoch) return;
      isOver = true;
      ended(delivery, answer);
    };
    const cut = this.#cutOf(from.id, to.id);
    if (to.isDown || cut?.isNoticed) {
      return this.#queue.after(1, () => end({ kind: "unreachable" }));
    }
    this.#queue.after(TIMEOUT_MS, () => end({ kind: "unknown" }));
    if (cut) return;
    const copies = this.#happens(this.conditions.duplicate) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (this.#happens(this.conditions.loseRequest)) continue;
      this.#queue.after(this.#delay(), () => {
        if (to.isDown) return;
        to.receive(from.id, path, body, (reply) => this.#answer(to.id, from.id, reply, end));
      });
    }
  }

  #answer(
    from: string,
    to: string,
    reply: Reply,
    end: (delivery: Delivery, body?: unknown) => void,
  ): void {
    if (this.#cutOf(from, to) || this.#happens(this.conditions.loseAnswer)) return;
    const shown = this.#happens(this.conditions.misreport) ? { status: 503 } : reply;
    this.#queue.after(this.#delay(), () => end({ kind: "answered", ...shown }, shown.body));
  }

  #cutOf(from: string, to: string) {
    const cut = this.#cuts.get(`${from} ${to}`);
    return cut && cut.until > this.#queue.now ? cut : undefined;
  }

  #delay(): number {
    const fate = this.#random.next();
    const { slow, verySlow } = this.conditions;
    if (fate < verySlow) return 20_000 + this.#random.below(100_000);
    if (fate < verySlow + slow) return 1_000 + this.#random.below(14_000);
    return 5 + this.#random.below(400);
  }

  #happens(probability: number): boolean {
    return probability > 0 && this.#random.next() < probability;
  }
}
