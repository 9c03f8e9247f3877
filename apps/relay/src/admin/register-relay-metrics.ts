import { limits } from "@agent/wire";
import { Gauge } from "prom-client";
import type { RequestMetrics } from "../observability/metrics.ts";
import type { Services } from "../services.ts";
import { getLogState } from "../log/get-log-state.ts";
import { countOpenTasks } from "./store.ts";

/** Adds the gauges that are read from the relay whenever its metrics are asked for. */
export function registerRelayMetrics(
  { registry }: RequestMetrics,
  services: Pick<
    Services,
    "storage" | "connections" | "jobMonitor" | "freezer" | "clock" | "reconciler" | "relayLog"
  >,
  isDraining: () => boolean,
): void {
  const { storage, connections, jobMonitor, freezer, clock, reconciler, relayLog } = services;
  const registers = [registry];
  const log = { storage: { read: storage.reserved }, relayLog };
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name: `agent_relay_${name}`,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  gauge("open_tasks", "Tasks that have not ended.", () => countOpenTasks(storage.reserved));
  gauge("open_tasks_limit", "Maximum number of open tasks.", () => limits.liveTasks);
  gauge("sockets", "Connected devices.", () => [...connections.all()].length);
  gauge("frozen", "1 while the relay is frozen.", () => (freezer.frozen() === undefined ? 0 : 1));
  gauge("draining", "1 while the relay shuts down.", () => (isDraining() ? 1 : 0));
  gauge(
    "clock_offset_seconds",
    "Difference of the wall clock while it is not trusted after a jump, else 0.",
    () => (clock.jump()?.offset ?? 0) / 1_000,
  );
  gauge("log_size", "Entries that the newest head of the log covers.", async () => {
    const { size, lag } = await getLogState(log);
    return size - lag;
  });
  gauge("log_lag_entries", "Entries of the log that no head covers yet.", async () => {
    return (await getLogState(log)).lag;
  });
  gauge("log_cosignatures", "Cosignatures of the newest head of the log.", async () => {
    return (await getLogState(log)).latest?.cosigned ?? 0;
  });
  gauge(
    "log_integrate_seconds",
    "Time that the last integration into the log took.",
    () => relayLog.lastDuration() / 1_000,
  );
  new Gauge({
    name: "agent_relay_books_faults",
    help: "Rows that break a rule of the books, by check, at the last reconciliation.",
    labelNames: ["check"],
    registers,
    collect() {
      for (const { code, count } of reconciler.latest()?.books.checks ?? []) {
        this.labels(code).set(count);
      }
    },
  });
  new Gauge({
    name: "agent_relay_job_age_seconds",
    help: "Time since a background job last succeeded.",
    labelNames: ["job"],
    registers,
    collect() {
      for (const { job, ageMs } of jobMonitor.listStates()) this.labels(job).set(ageMs / 1_000);
    },
  });
  new Gauge({
    name: "agent_relay_job_failures",
    help: "Failures of a background job since the start.",
    labelNames: ["job"],
    registers,
    collect() {
      for (const { job, failures } of jobMonitor.listStates()) this.labels(job).set(failures);
    },
  });
}
