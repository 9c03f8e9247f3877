import { sha256Hex } from "@agent/crypto";
import { hashReceipt, type ExecutionReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import type { Caller } from "../caller.ts";
import type { Identity } from "../identity/identity.ts";
import {
  isOffered,
  checkRequiredCapabilities,
  checkTaskPrice,
  type Offer,
} from "../offer/offer.ts";
import type { Runtime } from "../runtime.ts";
import { checkSubmitter } from "../policy/check-submitter.ts";
import type { FindKnownLevel } from "../policy/place-holder.ts";
import type { CallTool } from "../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import type { StartedTask } from "./build-receipt.ts";
import { withDeadline } from "./deadline.ts";
import type { Delegate, DelegateTask } from "./delegation/delegation.ts";
import {
  buildDeniedOutcome,
  buildFailedOutcome,
  type Executor,
  type Outcome,
  type Toolbox,
} from "./executor.ts";
import { createTimeline } from "./ledger/timeline.ts";
import { signWork, type Execution, type SignedWork } from "./sign-work.ts";
import type { WorkTask } from "./task.ts";
import { createToolbox } from "./tool-access/toolbox.ts";
import { WorkWithdrawn } from "./abort-reasons.ts";
import { WorkPostponed } from "./work-postponed.ts";

/** The time for which a claim is on its way to this agent, and its receipt on the way back. */
const MAX_TRANSFER_MS = 5_000;

export interface TaskRunnerParts {
  readonly identity: Identity;
  readonly deviceId: () => string;
  /** The owner's tools; executors may use those that are offered to the caller. */
  readonly tools: () => readonly ToolDefinition[];
  readonly offer: Offer;
  readonly callTool: CallTool;
  readonly executor: Executor;
  readonly delegateTask: DelegateTask | undefined;
  /** Called with the hash of each receipt; the receipt leaves the agent when it resolves. */
  readonly recordSigned?: ((receiptHash: string) => Promise<void>) | undefined;
  /** Whether relay tasks get a ledger as well; absent: they do not. */
  readonly signsLedgers?: boolean | undefined;
  readonly taskTimeoutMs: number;
  /** The levels that the owner stated; absent: none. */
  readonly findKnownLevel?: FindKnownLevel | undefined;
  readonly runtime: Runtime;
}

export interface RunOptions {
  readonly caller: Caller;
  readonly cancel?: AbortSignal;
  /** The outcome of a task that must not run. */
  readonly outcome?: Outcome;
}

/**
 * Runs a task to its end and signs the receipt, also for a task that fails, times out or is
 * cancelled. Rejects with `WorkWithdrawn` or `WorkPostponed` for work that gets no receipt.
 */
export type RunTask = (task: WorkTask, options: RunOptions) => Promise<SignedWork>;

export function createTaskRunner(parts: TaskRunnerParts): RunTask {
  const { identity, offer, callTool, executor, delegateTask, runtime } = parts;

  return async (assigned, { caller, cancel, ...given }) => {
    const task = { ...assigned, startedAt: runtime.now() };
    if (given.outcome !== undefined) return sign(task, given.outcome, {});
    const { requiredCapabilities } = task;
    const allTools = parts.tools();
    const tools = allTools.filter(({ name }) =>
      isOffered(offer, name, { caller, requiredCapabilities }),
    );
    const isWithoutTools = allTools.length > 0 && tools.length === 0;
    const refusal = findRefusal(parts, { task, caller, isWithoutTools });
    if (refusal !== undefined) return sign(task, buildDeniedOutcome(refusal), {});
    const used = new Set<string>();
    const nested: ExecutionReceipt[] = [];
    const timeline =
      parts.signsLedgers === true && task.relayTaskId !== undefined
        ? createTimeline(task.relayTaskId, runtime.now)
        : undefined;
    const ms = Math.min(parts.taskTimeoutMs, calculateWorkTime(task.wallClockMs ?? Infinity));

    const timed = await withDeadline({ runtime, ms, cancel }, async (signal) => {
      const delegate =
        delegateTask && createDelegate(delegateTask, { task, caller, signal }, nested);
      const context = { signal, caller, task, ...(delegate !== undefined && { delegate }) };
      const toolbox = createToolbox({
        offered: {
          tools,
          toolsFor: (capability) => findToolsFor(capability, tools, offer),
          has: (name) => allTools.some((tool) => tool.name === name),
          hasSeveralPrices: offer.hasSeveralPrices,
        },
        callTool,
        context,
        rights: task,
        used,
        timeline,
        now: runtime.now,
      });
      return runExecutor(task, toolbox, signal);
    });
    // Withdrawn work has no result for a receipt.
    if (!timed.ok && cancel?.reason instanceof WorkWithdrawn) throw cancel.reason;
    const outcome = timed.ok ? timed.value : buildStoppedOutcome(timed.reason, ms);
    return sign(task, outcome, { used: [...used], nested, timeline });
  };

  async function runExecutor(
    task: WorkTask,
    toolbox: Toolbox,
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      return await executor.execute(task, toolbox, signal);
    } catch (cause) {
      if (cause instanceof WorkPostponed) throw cause;
      runtime.log("error", "task.threw", { correlationId: task.taskId, cause: String(cause) });
      return buildFailedOutcome("The task failed");
    }
  }

  async function sign(
    task: StartedTask,
    outcome: Outcome,
    execution: Execution,
  ): Promise<SignedWork> {
    const signed = signWork(task, outcome, execution, {
      identity,
      deviceId: parts.deviceId(),
      runtime,
    });
    await parts.recordSigned?.(hashReceipt(signed.receipt));
    return signed;
  }
}

/** Returns the reason why a task must not run; undefined if it may. */
function findRefusal(
  { offer, executor, findKnownLevel }: TaskRunnerParts,
  given: {
    readonly task: WorkTask;
    readonly caller: Caller;
    /** Whether the agent has tools, but none for the caller. */
    readonly isWithoutTools: boolean;
  },
): string | undefined {
  const { task, caller, isWithoutTools } = given;
  const { requiredCapabilities } = task;
  return (
    checkSubmitter(caller, task, findKnownLevel) ??
    checkRequiredCapabilities(offer, { caller, requiredCapabilities }) ??
    checkTaskPrice(offer, task) ??
    (isWithoutTools && executor.answersWithoutTools !== true
      ? "This agent does not offer any of its tools"
      : undefined)
  );
}

/**
 * Returns how long a task may work of the time after which its relay ends the claim. The rest is for the
 * receipt of work that was stopped: a late one makes this agent a no-show.
 */
function calculateWorkTime(wallClockMs: number): number {
  return Math.floor(wallClockMs - Math.min(MAX_TRANSFER_MS, wallClockMs / 4));
}

/** Returns the tools behind a capability. The owner may also require a tool by its name. */
function findToolsFor(
  capability: string,
  tools: readonly ToolDefinition[],
  { capabilities }: Offer,
): readonly ToolDefinition[] {
  const names = capabilities.get(capability) ?? [capability];
  return names.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
}

function buildStoppedOutcome(reason: "timeout" | "cancelled", ms: number): Outcome {
  return buildFailedOutcome(
    reason === "timeout" ? `The task did not finish within ${ms} ms` : "The task was cancelled",
  );
}

function createDelegate(
  delegateTask: DelegateTask,
  on: Omit<Parameters<DelegateTask>[1], "requestHash" | "ordinal">,
  nested: ExecutionReceipt[],
): Delegate {
  const counts = new Map<string, number>();
  return async (request) => {
    if (nested.length >= limits.nestedReceipts) return { ok: false, error: "Too many delegations" };
    const requestHash = sha256Hex(JSON.stringify(request));
    const ordinal = counts.get(requestHash) ?? 0;
    counts.set(requestHash, ordinal + 1);
    const answer = await delegateTask(request, { ...on, requestHash, ordinal });
    if (answer.receipt !== undefined) nested.push(answer.receipt);
    return answer;
  };
}
