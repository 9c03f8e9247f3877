import type { LedgerEvent } from "../events.ts";
import type { StepStatus } from "../statuses.ts";

/** The history of one step in a timeline. */
export interface StepHistory {
  /** The index of its first event. */
  readonly firstIndex: number;
  firstAt: number;
  lastAt: number;
  /** The last event of the step. */
  status: Exclude<StepStatus, "pending" | "skipped">;
  /** The last start; undefined if only other events name the step. */
  started: LedgerEvent<"step_started"> | undefined;
  /** The recorded calls and their tools. */
  calls: number;
  readonly tools: Set<string>;
  /** The number of calls that the last completion states. */
  callsMade: number | undefined;
  /** The tasks that delegated the step. */
  readonly tasks: Set<string>;
}

export interface StepHistories {
  readonly histories: ReadonlyMap<string, StepHistory>;
  /** The step of each event; undefined for an event of the plan, of the goal or of no step. */
  readonly stepIds: readonly (string | undefined)[];
  /** The indexes of events that end or delegate a step while none is open. */
  readonly unassigned: readonly number[];
}

/**
 * Collects the history of each step in a timeline. An event without a step belongs to the most recently
 * started step that has not ended.
 */
export function buildStepHistories(timeline: readonly LedgerEvent[]): StepHistories {
  const histories = new Map<string, StepHistory>();
  const unassigned: number[] = [];
  const startedIds: string[] = [];
  const findOpenStep = () => {
    while (startedIds.length > 0 && hasEnded(histories.get(startedIds.at(-1)!))) startedIds.pop();
    return startedIds.at(-1);
  };
  const stepIds = timeline.map((event, index) => {
    if (!isStepEvent(event)) return undefined;
    const stepId = event.payload.step_id ?? findOpenStep();
    if (stepId === undefined) {
      // Tools may be called outside of steps.
      if (event.type !== "tool_invoked" && event.type !== "tool_result") unassigned.push(index);
      return undefined;
    }
    const existing = histories.get(stepId);
    const history = existing ?? createHistory(index, event.timestamp);
    if (existing === undefined) histories.set(stepId, history);
    if (existing === undefined || event.type === "step_started") startedIds.push(stepId);
    recordEvent(history, event);
    return stepId;
  });
  return { histories, stepIds, unassigned };
}

/** Returns whether the last event of a step is its end. */
export function hasEnded(history: StepHistory | undefined): boolean {
  return history?.status === "completed" || history?.status === "failed";
}

const STEP_EVENTS = [
  "step_started",
  "tool_invoked",
  "tool_result",
  "step_completed",
  "step_failed",
  "step_delegated",
] as const;

/** An event that belongs to a step, whether it names the step or not. */
export type StepEvent = LedgerEvent<(typeof STEP_EVENTS)[number]>;

export function isStepEvent(event: LedgerEvent): event is StepEvent {
  return (STEP_EVENTS as readonly string[]).includes(event.type);
}

function createHistory(firstIndex: number, firstAt: number): StepHistory {
  return {
    firstIndex,
    firstAt,
    lastAt: firstAt,
    status: "running",
    started: undefined,
    calls: 0,
    tools: new Set(),
    callsMade: undefined,
    tasks: new Set(),
  };
}

function recordEvent(history: StepHistory, event: StepEvent): void {
  history.lastAt = event.timestamp;
  switch (event.type) {
    case "step_started":
      history.status = "running";
      history.started = event;
      break;
    case "tool_invoked":
      history.calls += 1;
      history.tools.add(event.payload.tool);
      break;
    case "tool_result":
      break;
    case "step_completed":
      history.status = "completed";
      history.callsMade = event.payload.tool_calls_made;
      break;
    case "step_failed":
      history.status = "failed";
      break;
    case "step_delegated":
      // A task that is recorded late does not reopen a step.
      if (history.status === "running") history.status = "delegated";
      history.tasks.add(event.payload.task_id);
      break;
  }
}
