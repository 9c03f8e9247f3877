import { Counter, Histogram, Registry } from "prom-client";

/** Counts the requests that are served. The labels are names of the contract, so they are few. */
export interface RequestMetrics {
  readonly recordRequest: (operation: string, status: number, seconds: number) => void;
  readonly registry: Registry;
}

const DURATION_BUCKETS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** Creates the metrics of a relay; those of one of several processes carry its name. */
export function createMetrics(processName?: string): RequestMetrics {
  const registry = new Registry();
  if (processName !== undefined) registry.setDefaultLabels({ process: processName });
  const registers = [registry];
  const requests = new Counter({
    name: "agent_relay_http_requests_total",
    help: "Requests by operation of the contract and status.",
    labelNames: ["operation", "status"],
    registers,
  });
  const duration = new Histogram({
    name: "agent_relay_http_request_duration_seconds",
    help: "Time from a request to its answer, held polls included.",
    labelNames: ["operation"],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  return {
    registry,
    recordRequest(operation, status, seconds) {
      requests.labels(operation, String(status)).inc();
      duration.labels(operation).observe(seconds);
    },
  };
}
