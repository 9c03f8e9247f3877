import { type ClockState, advanceClock, createClock } from "@agent/federation-protocol/delivery";
import type { EventQueue } from "../event-queue.ts";
import type { Faults } from "../faults.ts";

const START_TIME = 1_760_000_000_000;

/** The clocks of a simulated machine, and the time that its relay derives from them, in ms. */
export class SimClock {
  readonly #queue: EventQueue;
  readonly #skewMs: number;
  readonly #trustsWallClock: boolean;
  readonly #ignoresStoredTime: boolean;
  #setAheadMs = 0;
  #state: ClockState;

  constructor(
    queue: EventQueue,
    {
      skewMs,
      trustsWallClock = false,
      ignoresStoredTime = false,
    }: { readonly skewMs: number } & Pick<Faults, "trustsWallClock" | "ignoresStoredTime">,
  ) {
    this.#queue = queue;
    this.#skewMs = skewMs;
    this.#trustsWallClock = trustsWallClock;
    this.#ignoresStoredTime = ignoresStoredTime;
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

  /** Starts the machine with the relay's stored time, and with a correct wall clock if `isSet`. */
  start({ isSet }: { readonly isSet: boolean }): void {
    if (isSet) this.#setAheadMs = 0;
    const newestStored = this.#ignoresStoredTime ? undefined : this.#state.now;
    this.#state = createClock(this.#reading(), newestStored);
  }

  #reading() {
    const { now: monotonic } = this.#queue;
    return { wall: START_TIME + monotonic + this.#skewMs + this.#setAheadMs, monotonic };
  }
}
