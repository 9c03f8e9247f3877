import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type FederationRefusal, refuse, type RequestCode } from "../refusals.ts";

/**
 * Checks the members `timestamp` (ms) and `to` of a signed body if it has them. They prevent its reuse at
 * another relay or under a new header. Refused: `federation.timestamp_expired`,
 * `federation.wrong_receiver`.
 */
export function checkEnvelope(
  { timestamp, to }: { readonly timestamp?: number | undefined; readonly to?: string | undefined },
  { self, now, lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs }: EnvelopeContext,
): { readonly ok: true } | FederationRefusal<RequestCode> {
  if (timestamp !== undefined && !isFresh(timestamp, now, lifetimeMs)) {
    return refuse("federation.timestamp_expired");
  }
  if (to !== undefined && to !== self) return refuse("federation.wrong_receiver");
  return { ok: true };
}

/** The checking relay's own values for `checkEnvelope`. */
export interface EnvelopeContext {
  /** The id of the relay that checks. */
  readonly self: string;
  /** In ms since the epoch, by the clock of that relay. */
  readonly now: number;
  /** The maximum age of the body, in ms; 5 minutes by default. */
  readonly lifetimeMs?: number;
}
