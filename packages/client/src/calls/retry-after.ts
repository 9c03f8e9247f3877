import { limits } from "@agent/wire";

/** The longest accepted wait, so that an answer cannot stop a caller permanently. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * The relay's own limits reset within a minute. A longer wait comes from a proxy in front of it, which does
 * not know when the relay is back.
 */
const MAX_WAIT_MS = limits.rateWindowMs;

const SECONDS = /^\d+$/;
/** Matches the two HTTP date formats that name their zone: a day's name, the date and GMT. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .{1,30} GMT$/;

/**
 * Returns the wait that a `Retry-After` header requests (RFC 9110, 10.2.3: seconds or an HTTP date), in ms
 * from `now` and at most a day; undefined if the header is absent or is neither.
 */
export function parseRetryAfterMs(
  value: string | null | undefined,
  now: number,
): number | undefined {
  const text = value?.trim() ?? "";
  const ms = SECONDS.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** Returns the wait in whole seconds, rounded up, as used in a refusal or a `SocketEnd`. */
export function readRetryAfterSeconds(
  value: string | null | undefined,
  now: number,
): { readonly retryAfterSeconds?: number } {
  const ms = parseRetryAfterMs(value, now);
  return ms === undefined ? {} : { retryAfterSeconds: Math.ceil(ms / 1_000) };
}

/** Returns the time to wait in ms before the next attempt after such a refusal, at most a minute. */
export function getRequestedWaitMs({
  retryAfterSeconds = 0,
}: {
  readonly retryAfterSeconds?: number;
}): number {
  return Math.min(retryAfterSeconds * 1_000, MAX_WAIT_MS);
}

function parseHttpDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
