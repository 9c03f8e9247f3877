/** What a memory would give away, from nothing to everything. */
export const sensitivities = ["none", "personal", "medical", "financial", "secret"] as const;
export type Sensitivity = (typeof sensitivities)[number];

const acceptedSensitivities: readonly Sensitivity[] = ["none", "personal"];

/**
 * The sensitivity under which a caller's note may be kept, or undefined. Whatever is not spelled exactly
 * as one of the two that are taken is refused, because nobody knows what it would give away.
 */
export function parseSensitivity(given: string | undefined): Sensitivity | undefined {
  return acceptedSensitivities.find((one) => one === (given ?? "none"));
}

/** Of two claims about one text the stricter holds. */
export function pickStricterSensitivity(a: Sensitivity, b: Sensitivity): Sensitivity {
  return sensitivities.indexOf(a) < sensitivities.indexOf(b) ? b : a;
}
