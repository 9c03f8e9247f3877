const dayMs = 86_400_000;
const longestHalfLifeDays = 365;
const growth = 1.2;

/** How sure a memory was when it was last touched, and how fast that fades. */
export interface Fading {
  /** 0 to 1, at `reinforcedAt`. */
  readonly confidence: number;
  readonly halfLifeDays: number;
  /** Milliseconds since the Unix epoch. */
  readonly reinforcedAt: number;
}

export function freshFading(now: number): Fading {
  return { confidence: 0.8, halfLifeDays: 30, reinforcedAt: now };
}

/** Halved with every half-life; a clock that was set back makes nothing surer than it was. */
export function confidenceAt({ confidence, halfLifeDays, reinforcedAt }: Fading, now: number) {
  const days = Math.max(0, now - reinforcedAt) / dayMs;
  return confidence * 0.5 ** (days / halfLifeDays);
}

/** Recalled, or said again: half of the doubt is gone, and it fades more slowly from here on. */
export function reinforced(fading: Fading, now: number): Fading {
  return {
    confidence: (1 + confidenceAt(fading, now)) / 2,
    halfLifeDays: Math.min(longestHalfLifeDays, fading.halfLifeDays * growth),
    reinforcedAt: Math.max(now, fading.reinforcedAt),
  };
}
