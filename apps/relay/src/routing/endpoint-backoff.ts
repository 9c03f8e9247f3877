const firstMs = 1_000;
const longestMs = 60_000;
const remembered = 10_000;

/** Spares endpoints that do not answer: each failure doubles the pause before the next try. */
export interface EndpointBackoff {
  mayTry(endpoint: string, now: number): boolean;
  failed(endpoint: string, now: number): void;
  succeeded(endpoint: string): void;
}

export function createEndpointBackoff(): EndpointBackoff {
  const failures = new Map<string, { until: number; pauseMs: number }>();
  return {
    mayTry: (endpoint, now) => now >= (failures.get(endpoint)?.until ?? 0),
    failed(endpoint, now) {
      const before = failures.get(endpoint);
      const pauseMs = Math.min(longestMs, before === undefined ? firstMs : before.pauseMs * 2);
      failures.delete(endpoint);
      const oldest = failures.size >= remembered ? failures.keys().next() : undefined;
      if (oldest?.done === false) failures.delete(oldest.value);
      failures.set(endpoint, { until: now + pauseMs, pauseMs });
    },
    succeeded: (endpoint) => void failures.delete(endpoint),
  };
}
