import {
  acceptWallClock,
  advanceClock,
  createClock,
  type ClockJump,
  type ClockReading,
} from "@agent/federation-protocol/delivery";

/** The clock of a relay, which does not follow a jump of the wall clock (docs/decisions.md, 11). */
export interface RelayClock {
  /** The accepted time in milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Monotonic milliseconds for intervals in memory, which an accepted jump does not change. */
  readonly elapsed: () => number;
  /** The value of `elapsed` at the start or the last accepted jump; earlier entries are of another time. */
  readonly lastMovedAt: () => number;
  /** The values of `elapsed` at the last accepted jump forward and back; -Infinity before any. */
  readonly lastMovedForwardAt: () => number;
  readonly lastMovedBackAt: () => number;
  /** The time at which the last accepted jump forward ended; -Infinity before any, and once it was undone. */
  readonly movedForwardTo: () => number;
  /** Present while the wall clock is not trusted after a jump. */
  readonly jump: () => ClockJump | null;
  /** Accepts the wall clock and returns by how many milliseconds the time moved. */
  readonly accept: () => number;
  /** Continues from the newest stored time if the wall clock is before it, and reports jumps from now on. */
  readonly resume: (newestStored: number | undefined, listener: ClockListener) => void;
}

export interface ClockListener {
  /** Called once per jump; the wall clock differs by `offset` milliseconds. */
  readonly onJump: (offset: number) => void;
  /** Called when the wall clock returned or was accepted; the time moved by `moved` milliseconds. */
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
  let movedForwardAt = -Infinity;
  let movedBackAt = -Infinity;
  let movedForwardTo = -Infinity;
  let listener: ClockListener | undefined;

  function settle(moved: number): void {
    movedAt = state.monotonic;
    if (moved > 0) [movedForwardAt, movedForwardTo] = [state.monotonic, state.now];
    if (moved < 0) movedBackAt = state.monotonic;
    if (movedForwardTo > state.now) movedForwardTo = -Infinity;
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
    lastMovedForwardAt: () => movedForwardAt,
    lastMovedBackAt: () => movedBackAt,
    movedForwardTo: () => movedForwardTo,
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

/** Creates a clock that trusts every value of its source, for tests. */
export function createTrustedClock(now: () => number): RelayClock {
  return {
    now,
    elapsed: now,
    lastMovedAt: () => -Infinity,
    lastMovedForwardAt: () => -Infinity,
    lastMovedBackAt: () => -Infinity,
    movedForwardTo: () => -Infinity,
    jump: () => null,
    accept: () => 0,
    resume() {},
  };
}
