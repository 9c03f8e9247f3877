import type { CallAnswer } from "../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import type { WorkTask } from "./task.ts";

export interface Outcome {
  readonly status: "completed" | "failed" | "denied";
  readonly result: string;
}

/** The tools of one task: scope, policy and time limit are already applied to every call. */
export interface Toolbox {
  readonly tools: readonly ToolDefinition[];
  /** Those of `tools` that are behind a required capability. */
  toolsFor(capability: string): readonly ToolDefinition[];
  /** Whether the agent has this tool, offered for the task or not. */
  has(name: string): boolean;
  /** Whether another tool would have had another price, so that guessing which one is meant is wrong. */
  readonly hasSeveralPrices: boolean;
  call(name: string, args: unknown): Promise<CallAnswer>;
}

/** Turns a prompt into a result with the tools at hand. */
export interface Executor {
  /** It has an answer of its own also where there is no tool to call. */
  readonly answersWithoutTools?: boolean;
  execute(task: WorkTask, toolbox: Toolbox, signal: AbortSignal): Promise<Outcome>;
}
