import type { LocalCounts, AttemptCounter } from "../gradient/counts.ts";
import type { Runtime } from "../runtime.ts";
import type { AgentCredentials } from "./membership/agent-credentials.ts";

/** Issues the credential that an agent gives about itself, again and again, from what it has counted. */
export interface Housekeeping {
  /** Issues a credential at once and every `intervalMs` after, and hands it in. */
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
