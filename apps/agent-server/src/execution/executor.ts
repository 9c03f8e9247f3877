import type { CallAnswer } from "../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import type { WorkTask } from "./task.ts";

export interface Outcome {
  readonly status: "completed" | "failed" | "denied";
  readonly result: string;
}

/** Builds the outcome of a task that failed; `result` is the reason. */
export function buildFailedOutcome(result: string): Outcome {
  return { status: "failed", result };
}

/** Builds the outcome of a task that must not run; `result` is the reason. */
export function buildDeniedOutcome(result: string): Outcome {
  return { status: "denied", result };
}

/** The tools of one task; scope, policy and time limit apply to every call. */
export interface Toolbox {
  readonly tools: readonly ToolDefinition[];
  /** Returns those of `tools` that provide a required capability. */
  toolsFor(capability: string): readonly ToolDefinition[];
  /** Returns whether the agent has this tool, even if it is not offered for the task. */
  has(name: string): boolean;
  /**
   * Whether tools have different prices, so that a wrongly guessed tool would charge the wrong
   * price.
   */
  readonly hasSeveralPrices: boolean;
  /** Rejects with `WorkPostponed` when the task must be offered again instead of answered. */
  call(name: string, args: unknown): Promise<CallAnswer>;
}

/** Turns a prompt into a result with the tools of the toolbox. */
export interface Executor {
  /** True when the executor can answer even if there is no tool to call. */
  readonly answersWithoutTools?: boolean;
  execute(task: WorkTask, toolbox: Toolbox, signal: AbortSignal): Promise<Outcome>;
}
