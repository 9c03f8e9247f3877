import { limits } from "@agent/wire";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Services } from "../services.ts";
import { countOpenTasks } from "../admin/store.ts";

/** What is counted while requests are served; its labels are names of the contract, so they are few. */
export interface RequestMetrics {
  readonly recordRequest: (operation: string, status: number, seconds: number) => void;
  readonly registry: Registry;
}

const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

export function createMetrics(): RequestMetrics {
  const registry = new Registry();
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
    buckets: durationBuckets,
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

/** Adds what is read from the relay at the moment of asking. */
export function registerRelayMetrics(
  { registry }: RequestMetrics,
  services: Pick<
    Services,
    "storage" | "connections" | "jobMonitor" | "freezer" | "clock" | "reconciler"
  >,
  draining: () => boolean,
): void {
  const { storage, connections, jobMonitor: jobBoard, freezer, clock, reconciler } = services;
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name: `agent_relay_${name}`,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  gauge("open_tasks", "Tasks that have not ended.", () => countOpenTasks(storage.read));
  gauge("open_tasks_limit", "Most tasks that may be open.", () => limits.liveTasks);
  gauge("sockets", "Devices that are connected.", () => [...connections.all()].length);
  gauge("frozen", "1 while the operator holds the relay still.", () =>
    freezer.frozen() === undefined ? 0 : 1,
  );
  gauge("draining", "1 while the relay shuts down.", () => (draining() ? 1 : 0));
  gauge(
    "clock_offset_seconds",
    "What the wall clock differs by while it is not believed after a jump, else 0.",
    () => (clock.jump()?.offset ?? 0) / 1_000,
  );
  new Gauge({
    name: "agent_relay_books_faults",
    help: "Rows that break a rule of the books, by check, when they were last reconciled.",
    labelNames: ["check"],
    registers,
    collect() {
      for (const { name, count } of reconciler.latest()?.books.checks ?? []) {
        this.labels(name).set(count);
      }
    },
  });
  new Gauge({
    name: "agent_relay_job_age_seconds",
    help: "Time since a background job last succeeded.",
    labelNames: ["job"],
    registers,
    collect() {
      for (const { job, ageMs } of jobBoard.listStates()) this.labels(job).set(ageMs / 1_000);
    },
  });
  new Gauge({
    name: "agent_relay_job_failures",
    help: "How often a background job has failed since the start.",
    labelNames: ["job"],
    registers,
    collect() {
      for (const { job, failures } of jobBoard.listStates()) this.labels(job).set(failures);
    },
  });
}
