import type { CallRefusal } from "@agent/client";
import type { Code } from "@agent/wire";

/**
 * The result of a lookup at the relay. `unavailable`: the relay was not asked or gave no final answer, so
 * nothing final may be concluded from it.
 */
export type Lookup<T> =
  | { readonly status: "found"; readonly value: T }
  | { readonly status: "unknown" }
  | UnavailableLookup;

export interface UnavailableLookup {
  readonly status: "unavailable";
  /** The time after which the lookup may succeed. */
  readonly retryAfterSeconds: number;
}

const DEFAULT_RETRY_SECONDS = 5;

export const unknownLookup = { status: "unknown" } as const;

export function buildFoundLookup<T>(value: T): Lookup<T> {
  return { status: "found", value };
}

export function buildUnavailableLookup(
  retryAfterSeconds: number = DEFAULT_RETRY_SECONDS,
): UnavailableLookup {
  return { status: "unavailable", retryAfterSeconds };
}

/** Reads an answer of the relay: only its own `notFoundCode` states that there is nothing. */
export function toLookup<T>(
  answer: { readonly ok: true; readonly body: T } | CallRefusal,
  notFoundCode: Code,
): Lookup<T> {
  if (answer.ok) return buildFoundLookup(answer.body);
  return answer.code === notFoundCode
    ? unknownLookup
    : buildUnavailableLookup(answer.retryAfterSeconds);
}
