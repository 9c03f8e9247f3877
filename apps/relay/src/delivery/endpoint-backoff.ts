import type { Runtime } from "../runtime.ts";

/** Spares endpoints that do not answer: each failure doubles the pause before the next try. */
export interface EndpointBackoff {
  mayTry(endpoint: string): boolean;
  failed(endpoint: string, agentId: string): void;
  succeeded(endpoint: string): void;
  stop(): void;
}

const firstMs = 1_000;
const longestMs = 60_000;
const remembered = 10_000;

interface Pause {
  readonly ms: number;
  readonly until: number;
  readonly cancel: () => void;
}

/** `over` is called with the agent of an endpoint that may be tried again. */
export function createEndpointBackoff(
  { now, schedule }: Pick<Runtime, "now" | "schedule">,
  over: (agentId: string) => void,
): EndpointBackoff {
  const pauses = new Map<string, Pause>();

  function forget(endpoint: string): void {
    pauses.get(endpoint)?.cancel();
    pauses.delete(endpoint);
  }

  const mayTry = (endpoint: string) => now() >= (pauses.get(endpoint)?.until ?? 0);

  return {
    mayTry,
    failed(endpoint, agentId) {
      // Of several tries at once only the first to fail counts.
      if (!mayTry(endpoint)) return;
      const before = pauses.get(endpoint);
      const ms = before === undefined ? firstMs : Math.min(longestMs, before.ms * 2);
      forget(endpoint);
      const oldest = pauses.keys().next();
      if (pauses.size >= remembered && oldest.done !== true) forget(oldest.value);
      const cancel = schedule(ms, () => over(agentId));
      pauses.set(endpoint, { ms, until: now() + ms, cancel });
    },
    succeeded: forget,
    stop() {
      for (const { cancel } of pauses.values()) cancel();
    },
  };
}
