/** The sensitivities of a memory in ascending order. */
export const sensitivities = ["none", "personal", "medical", "financial", "secret"] as const;
export type Sensitivity = (typeof sensitivities)[number];

const acceptedSensitivities: readonly Sensitivity[] = ["none", "personal"];

/**
 * Parses the sensitivity of a caller's note. Only the exact spelling of the two accepted levels is
 * valid; any other text is refused because its sensitivity is unknown.
 */
export function parseSensitivity(given: string | undefined): Sensitivity | undefined {
  return acceptedSensitivities.find((one) => one === (given ?? "none"));
}

/** Returns the stricter of two sensitivities of one text. */
export function pickStricterSensitivity(a: Sensitivity, b: Sensitivity): Sensitivity {
  return sensitivities.indexOf(a) < sensitivities.indexOf(b) ? b : a;
}
