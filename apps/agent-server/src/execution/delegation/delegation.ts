import type { ExecutionReceipt } from "@agent/receipts";
import type { Caller } from "../../caller.ts";
import type { WorkTask } from "../task.ts";

export interface DelegateRequest {
  /** The executor: either a named agent, or the relay's best match for a capability. */
  readonly agent_id?: string;
  readonly capability?: string;
  readonly prompt: string;
  /** Hard limit on price and hold, in USD. */
  readonly max_budget?: number;
  /** The only tools that the named agent may use; a subset of what the task's own token allows. */
  readonly scope?: readonly string[];
}

export type DelegateAnswer =
  | { readonly ok: true; readonly data: string; readonly receipt: ExecutionReceipt }
  /** With a receipt: the other agent answered, but its work failed or was denied. */
  | { readonly ok: false; readonly error: string; readonly receipt?: ExecutionReceipt };

/** Delegates work to another agent; its verified receipt is nested into the task's own. */
export type Delegate = (request: DelegateRequest) => Promise<DelegateAnswer>;

/** Makes one delegation through the relay on behalf of `task`, and ends together with the task. */
export type DelegateTask = (
  request: DelegateRequest,
  on: {
    readonly task: WorkTask;
    readonly caller: Caller;
    readonly signal: AbortSignal;
    /** SHA-256, hex. */
    readonly requestHash: string;
    /** The number of equal requests before this one, in this attempt at the task. */
    readonly ordinal: number;
  },
) => Promise<DelegateAnswer>;
