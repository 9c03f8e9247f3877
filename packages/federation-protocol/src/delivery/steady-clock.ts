/** Up to this difference the clock follows the wall clock. */
const MAX_FOLLOWED_OFFSET_MS = 60_000;
/** How long a new offset of the wall clock must stand before it is accepted. */
const MIN_JUMP_DURATION_MS = 600_000;

/** What the two clocks of a machine show at one moment, in milliseconds. */
export interface ClockReading {
  /** Since the Unix epoch; it can be set to anything at any moment. */
  readonly wall: number;
  /** Since any fixed moment; it never goes back. */
  readonly monotonic: number;
}

/** A wall clock that differs by more than 60 s from the time that was accepted. */
export interface ClockJump {
  /** Wall time minus accepted time when the jump was first seen, in milliseconds. */
  readonly offset: number;
  /** The monotonic time at which this offset was first seen. */
  readonly since: number;
}

/** The accepted time, and what is needed to go on from it. */
export interface ClockState {
  /** The accepted time in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The monotonic time at which `now` was accepted. */
  readonly monotonic: number;
  /** Present while the wall clock is not believed. */
  readonly jump: ClockJump | null;
}

/**
 * The state to begin with. A start before `newestStored`, the newest time that was stored, begins
 * there, because a wall clock that went back must not undo what has happened.
 */
export function createClock({ wall, monotonic }: ClockReading, newestStored = wall): ClockState {
  return { now: Math.max(wall, newestStored), monotonic, jump: null };
}

/**
 * The clock at a later reading; its `now` is the time. It follows the wall clock while they differ by
 * at most 60 s. Beyond that it goes on at its own pace, so that nothing ends early and expiry never
 * stops, until the new offset has stood for 10 minutes.
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

/** The clock after the operator confirmed what the wall clock shows. */
export function acceptWallClock({ wall, monotonic }: ClockReading): ClockState {
  return { now: wall, monotonic, jump: null };
}
