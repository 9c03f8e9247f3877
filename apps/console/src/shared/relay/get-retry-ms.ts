import type { CallRefusal } from "@agent/client";

const RETRY_MS = 2_000;
/** A proxy that limits requests may not say for how long. */
const LIMITED_RETRY_MS = 10_000;

/** Returns the time after which a refused read may succeed; undefined if the answer would be the same. */
export function getRetryMs({
  code,
  status,
  retryAfterSeconds,
}: Pick<CallRefusal, "code" | "status" | "retryAfterSeconds">): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000;
  if (status === 429) return LIMITED_RETRY_MS;
  // A refusal by the page itself has no status either.
  const isPassing = code.startsWith("network.") || code === "response.malformed" || status >= 500;
  return isPassing ? RETRY_MS : undefined;
}
