import {
  acceptWallClock,
  advanceClock,
  createClock,
  type ClockJump,
  type ClockReading,
} from "@agent/federation-protocol/delivery";

/** The one clock of a relay, which does not believe a wall clock that jumped (docs/decisions.md, 11). */
export interface RelayClock {
  /** The accepted time in milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Milliseconds that only ever pass: for intervals in memory, which no accepted jump may stretch. */
  readonly elapsed: () => number;
  /** What `elapsed` was when the time began or a jump last ended: what was stored before is of another time. */
  readonly lastMovedAt: () => number;
  /** Present while the wall clock is not believed. */
  readonly jump: () => ClockJump | null;
  /** Accepts what the wall clock shows, and answers by how many milliseconds the time moved. */
  readonly accept: () => number;
  /** Goes on from the newest stored time if the wall clock is before it, and reports from now on. */
  readonly resume: (newestStored: number | undefined, listener: ClockListener) => void;
}

export interface ClockListener {
  /** The wall clock differs by `offset` milliseconds; called once per jump. */
  readonly onJump: (offset: number) => void;
  /** The wall clock is believed again: it came back, or was accepted, and the time moved by `moved`. */
  readonly onSettle: (moved: number) => void;
}

/** Both sources in milliseconds. */
export interface ClockSources {
  readonly wall: () => number;
  readonly monotonic: () => number;
}

export function createRelayClock({ wall, monotonic }: ClockSources): RelayClock {
  // Times are stored as whole milliseconds.
  const elapsed = () => Math.floor(monotonic());
  const readSources = (): ClockReading => ({ wall: wall(), monotonic: elapsed() });
  let state = createClock(readSources());
  let movedAt = state.monotonic;
  let listener: ClockListener | undefined;

  function settle(moved: number): void {
    movedAt = state.monotonic;
    listener?.onSettle(moved);
  }

  function read(): number {
    const before = state;
    state = advanceClock(before, readSources());
    if (state.jump !== null && state.jump !== before.jump) listener?.onJump(state.jump.offset);
    if (state.jump === null && before.jump !== null) {
      settle(state.now - (before.now + state.monotonic - before.monotonic));
    }
    return state.now;
  }

  return {
    now: read,
    elapsed,
    lastMovedAt: () => movedAt,
    jump: () => {
      read();
      return state.jump;
    },
    accept() {
      const before = read();
      if (state.jump === null) return 0;
      state = acceptWallClock(readSources());
      const moved = state.now - before;
      settle(moved);
      return moved;
    },
    resume(newestStored, newListener) {
      listener = newListener;
      state = createClock(readSources(), newestStored);
      movedAt = state.monotonic;
      read();
    },
  };
}

/** The clock of a relay whose time is set by others, in tests for example: all that it shows counts. */
export function createTrustedClock(now: () => number): RelayClock {
  return {
    now,
    elapsed: now,
    lastMovedAt: () => -Infinity,
    jump: () => null,
    accept: () => 0,
    resume() {},
  };
}
