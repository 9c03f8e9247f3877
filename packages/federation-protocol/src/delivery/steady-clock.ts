/** The clock follows the wall clock up to this difference. */
const MAX_FOLLOWED_OFFSET_MS = 60_000;
/** A new offset of the wall clock must last this long before it is accepted. */
const MIN_JUMP_DURATION_MS = 600_000;

/** The readings of a machine's two clocks at the same time, in ms. */
export interface ClockReading {
  /** The time since the epoch in ms; it can be set to any value at any time. */
  readonly wall: number;
  /** The time since an arbitrary fixed point in ms; it never goes back. */
  readonly monotonic: number;
}

/** A difference of more than 60 s between the wall clock and the accepted time. */
export interface ClockJump {
  /** Wall time minus accepted time when the jump was first seen, in ms. */
  readonly offset: number;
  /** The monotonic time in ms at which this offset was first seen. */
  readonly since: number;
}

/** The accepted time and the state from which it advances. */
export interface ClockState {
  /** The accepted time in ms since the epoch. */
  readonly now: number;
  /** The monotonic time in ms at which `now` was accepted. */
  readonly monotonic: number;
  /** Null while the clock follows the wall clock. */
  readonly jump: ClockJump | null;
}

/**
 * Returns the initial state. If the wall clock is behind the newest stored time (`newestStored`), the clock
 * starts there, because a wall clock that was set back must not undo past events.
 */
export function createClock({ wall, monotonic }: ClockReading, newestStored = wall): ClockState {
  return { now: Math.max(wall, newestStored), monotonic, jump: null };
}

/**
 * Advances the clock to a later reading; `now` is the resulting time. The clock follows the wall clock
 * while the two differ by at most 60 s. Beyond that it advances with the monotonic clock, so that nothing
 * expires early and expiry never stops, until the new offset has lasted 10 minutes.
 */
export function advanceClock(state: ClockState, { wall, monotonic }: ClockReading): ClockState {
  const elapsed = Math.max(0, monotonic - state.monotonic);
  const steadyNow = state.now + elapsed;
  const offset = wall - steadyNow;
  if (Math.abs(offset) <= MAX_FOLLOWED_OFFSET_MS) return { now: wall, monotonic, jump: null };
  const isSameJump =
    state.jump !== null && Math.abs(offset - state.jump.offset) <= MAX_FOLLOWED_OFFSET_MS;
  const jump = isSameJump ? state.jump : { offset, since: monotonic };
  if (jump !== null && monotonic - jump.since >= MIN_JUMP_DURATION_MS) {
    return { now: wall, monotonic, jump: null };
  }
  return { now: steadyNow, monotonic, jump };
}

/** Returns the clock after the operator confirmed the wall clock's time. */
export function acceptWallClock({ wall, monotonic }: ClockReading): ClockState {
  return { now: wall, monotonic, jump: null };
}
