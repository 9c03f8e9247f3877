import * as v from "valibot";
import type { TaskCounter } from "../execution/task-counter.ts";
import type { Memory } from "../memory/memory.ts";
import { defineTool } from "../tools/define-tool.ts";

export interface StateParts {
  readonly agentId: string;
  readonly taskCounter: TaskCounter;
  readonly memory: Memory;
  /** The value of the newest gradient credential, 0 to 1; null before the first one. */
  readonly gradient: () => number | null;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly now: () => number;
}

/** Builds the resource of the agent's state vector. */
export function stateResource({
  agentId,
  taskCounter,
  memory,
  gradient,
  startedAt,
  now,
}: StateParts) {
  return defineTool({
    name: "agent://state",
    description: "This agent's activity since it started.",
    risk: 0,
    input: v.object({}),
    run() {
      const { active, completed, failed } = taskCounter.counts();
      const state = {
        agent_id: agentId,
        status: active > 0 ? "busy" : "idle",
        active_tasks: active,
        completed_tasks: completed,
        failed_tasks: failed,
        // The clock may have been set back since the start.
        uptime_ms: Math.max(0, now() - startedAt),
        memory_count: memory.count(),
        gradient: gradient(),
      };
      return { ok: true, data: JSON.stringify(state) };
    },
  });
}
