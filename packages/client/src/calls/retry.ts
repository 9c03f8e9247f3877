import { fullJitter } from "./full-jitter.ts";
import { CALL_TIMEOUT_MS } from "./call.ts";
import type { Environment } from "../environment.ts";
import { getRequestedWaitMs } from "./retry-after.ts";
import { isOfRelay, refusal, type CallRefusal } from "./refusal.ts";
import type { PerCallOptions } from "../relay-client.ts";

const BACKOFF = { baseMs: 500, capMs: 15_000 } as const;

export interface RetryOptions {
  /** The time of the last attempt, in ms since the Unix epoch. */
  readonly deadline: number;
  readonly environment: Environment;
  readonly signal: AbortSignal | undefined;
  /**
   * Whether repeatable calls are also repeated after answers that do not come from a relay; false by
   * default.
   */
  readonly isRelayKnown?: boolean;
}

/**
 * Repeats a call that failed temporarily: after `Retry-After` (at most a minute) if the relay sends it,
 * and, if the call is `repeatable` (a read, or a call with an idempotency key), also after a lost
 * connection or a server failure. Permanent refusals, and the last refusal before the deadline, are
 * returned unchanged.
 */
export async function retry<T extends { readonly ok: true }>(
  attempt: () => Promise<T | CallRefusal>,
  repeatable: boolean,
  retryOptions: RetryOptions,
): Promise<T | CallRefusal> {
  const { deadline, environment, signal, isRelayKnown = false } = retryOptions;
  for (let failures = 0; ; failures++) {
    const answer = await attempt();
    if (answer.ok) return answer;
    const isPassing = repeatable && isRelayKnown && isOfAnother(answer);
    if (!isRetryable(answer, repeatable) && !isPassing) return answer;
    const waitMs =
      getRequestedWaitMs(answer) + fullJitter(failures, BACKOFF, environment.randomBytes);
    if (environment.now() + waitMs >= deadline) return answer;
    await sleep(waitMs, retryOptions);
    if (signal?.aborted === true) return refusal("network.aborted", "The call was aborted");
  }
}

/** Repeats a read, or a call that takes effect only once; each attempt gets the remaining time. */
export function retryRepeatable<T extends { readonly ok: true }>(
  attempt: (perCall: PerCallOptions) => Promise<T | CallRefusal>,
  retryOptions: RetryOptions,
): Promise<T | CallRefusal> {
  return retry(() => attempt(toPerCallOptions(retryOptions)), true, retryOptions);
}

/** Returns whether a repeated call may succeed after this refusal. */
export function isRetryable(
  { code, status, retryAfterSeconds }: CallRefusal,
  repeatable: boolean,
): boolean {
  // By sending Retry-After the relay states that it did nothing.
  if (retryAfterSeconds !== undefined && (status === 429 || status === 503)) return true;
  if (!repeatable || code === "network.aborted") return false;
  // The first request with this key is still running, and its answer is awaited.
  if (code === "idempotency.key_in_use") return true;
  return status === 0 ? code.startsWith("network.") : status === 429 || status >= 500;
}

/**
 * Returns whether an answer does not come from a relay but, for example, is the page or the JSON error of a
 * proxy while the relay restarts. It says nothing about a task that the relay has accepted and that is paid
 * all the same.
 */
function isOfAnother(answer: CallRefusal): boolean {
  return answer.status > 0 && !isOfRelay(answer);
}

/** Limits one exchange to the remaining time, at least 1 s and at most the 30 s of any call. */
export function toPerCallOptions({ deadline, environment, signal }: RetryOptions): PerCallOptions {
  const timeoutMs = Math.min(CALL_TIMEOUT_MS, Math.max(1_000, deadline - environment.now()));
  return signal === undefined ? { timeoutMs } : { timeoutMs, signal };
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function sleep(
  ms: number,
  { environment, signal }: Pick<RetryOptions, "environment" | "signal">,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = environment.schedule(ms, end);
    signal?.addEventListener("abort", end, { once: true });
    function end() {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}
