import { type ClockState, advanceClock, createClock } from "@agent/federation-protocol/delivery";
import type { EventQueue } from "../event-queue.ts";

const START_TIME = 1_760_000_000_000;

/** The clocks of a simulated machine and the time that its relay derives from them, in ms. */
export class SimClock {
  readonly #queue: EventQueue;
  readonly #skewMs: number;
  readonly #trustsWallClock: boolean;
  #setAheadMs = 0;
  #state: ClockState;

  constructor(
    queue: EventQueue,
    { skewMs, trustsWallClock }: { readonly skewMs: number; readonly trustsWallClock: boolean },
  ) {
    this.#queue = queue;
    this.#skewMs = skewMs;
    this.#trustsWallClock = trustsWallClock;
    this.#state = createClock(this.#reading());
  }

  get now(): number {
    this.#state = advanceClock(this.#state, this.#reading());
    return this.#trustsWallClock ? this.#reading().wall : this.#state.now;
  }

  /** Sets the wall clock's offset; negative if it is behind. */
  setAhead(ms: number): void {
    this.#setAheadMs = ms;
  }

  /** Starts the machine with a correct wall clock and the relay's stored time. */
  start(): void {
    this.#setAheadMs = 0;
    this.#state = createClock(this.#reading(), this.#state.now);
  }

  #reading() {
    const { now: monotonic } = this.#queue;
    return { wall: START_TIME + monotonic + this.#skewMs + this.#setAheadMs, monotonic };
  }
}
