import { BoundedMap } from "@agent/crypto";
import type { Runtime } from "../../runtime.ts";

/**
 * Delays calls to endpoints that do not answer: each failure doubles the pause before the next attempt.
 */
export interface EndpointBackoff {
  mayTry(endpoint: string): boolean;
  recordFailure(endpoint: string, agentId: string): void;
  recordSuccess(endpoint: string): void;
  stop(): void;
}

const INITIAL_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
const CACHE_SIZE = 10_000;

interface Pause {
  readonly agentId: string;
  readonly ms: number;
  readonly until: number;
  readonly cancel: () => void;
}

/** Calls `onPauseEnd` with the agent of an endpoint that may be tried again. */
export function createEndpointBackoff(
  { now, schedule }: Pick<Runtime, "now" | "schedule">,
  onPauseEnd: (agentId: string) => void,
): EndpointBackoff {
  const pauses = new BoundedMap<string, Pause>(CACHE_SIZE);

  function clearPause(endpoint: string): void {
    pauses.get(endpoint)?.cancel();
    pauses.delete(endpoint);
  }

  const mayTry = (endpoint: string) => now() >= (pauses.get(endpoint)?.until ?? 0);

  return {
    mayTry,
    recordFailure(endpoint, agentId) {
      // Of several parallel attempts only the first failure counts.
      if (!mayTry(endpoint)) return;
      const before = pauses.get(endpoint);
      const ms = before === undefined ? INITIAL_PAUSE_MS : Math.min(MAX_PAUSE_MS, before.ms * 2);
      clearPause(endpoint);
      const cancel = schedule(ms, () => onPauseEnd(agentId));
      pauses.set(endpoint, { agentId, ms, until: now() + ms, cancel })?.cancel();
    },
    recordSuccess(endpoint) {
      const paused = mayTry(endpoint) ? undefined : pauses.get(endpoint);
      clearPause(endpoint);
      // A call that began before the pause was answered, so tasks need not wait for its end.
      if (paused !== undefined) onPauseEnd(paused.agentId);
    },
    stop() {
      for (const [, { cancel }] of pauses) cancel();
    },
  };
}
