const DAY_MS = 86_400_000;
const MAX_HALF_LIFE_DAYS = 365;
const HALF_LIFE_GROWTH = 1.2;

/** The confidence of a memory when it was last reinforced, and its half-life. */
export interface Decay {
  /** 0 to 1, at `reinforcedAt`. */
  readonly confidence: number;
  readonly halfLifeDays: number;
  /** Milliseconds since the Unix epoch. */
  readonly reinforcedAt: number;
}

export function createInitialDecay(now: number): Decay {
  return { confidence: 0.8, halfLifeDays: 30, reinforcedAt: now };
}

/** Halves the confidence with every half-life; a clock that was set back does not raise it. */
export function calculateConfidence(
  { confidence, halfLifeDays, reinforcedAt }: Decay,
  now: number,
) {
  const days = Math.max(0, now - reinforcedAt) / DAY_MS;
  return confidence * 0.5 ** (days / halfLifeDays);
}

/**
 * Reinforces a memory that was recalled or repeated: half of the doubt is removed, and the
 * half-life grows.
 */
export function reinforceDecay(decay: Decay, now: number): Decay {
  return {
    confidence: (1 + calculateConfidence(decay, now)) / 2,
    halfLifeDays: Math.min(MAX_HALF_LIFE_DAYS, decay.halfLifeDays * HALF_LIFE_GROWTH),
    reinforcedAt: Math.max(now, decay.reinforcedAt),
  };
}
