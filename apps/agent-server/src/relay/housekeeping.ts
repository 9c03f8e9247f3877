import type { LocalCounts, AttemptCounter } from "../gradient/counts.ts";
import type { Runtime } from "../runtime.ts";
import type { AgentCredentials } from "./membership/agent-credentials.ts";

/** Periodically issues the gradient credential that an agent gives about itself from its counts. */
export interface Housekeeping {
  /** Issues and submits a credential at once, and then every `intervalMs`. */
  start(counts: () => LocalCounts): void;
  stop(): void;
}

export function createHousekeeping(parts: {
  credentials: Pick<AgentCredentials, "issueGradient" | "submitCredentials">;
  counters: Readonly<Record<"delegations" | "heartbeats", Pick<AttemptCounter, "attempts">>>;
  intervalMs: number;
  runtime: Pick<Runtime, "schedule">;
}): Housekeeping {
  const { credentials, counters, intervalMs, runtime } = parts;
  let cancelNext = () => {};

  function run(counts: () => LocalCounts): void {
    const delegations = counters.delegations.attempts();
    const heartbeats = counters.heartbeats.attempts();
    credentials.issueGradient({ ...counts(), delegations, heartbeats }, intervalMs);
    void credentials.submitCredentials();
    cancelNext = runtime.schedule(intervalMs, () => run(counts));
  }

  return { start: run, stop: () => cancelNext() };
}
