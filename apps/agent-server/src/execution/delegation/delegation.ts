import type { ExecutionReceipt } from "@agent/receipts";
import type { WorkTask } from "../task.ts";

export interface DelegateRequest {
  /** Who is to do it: a named agent, or whoever the relay finds best for a capability. */
  readonly agent_id?: string;
  readonly capability?: string;
  readonly prompt: string;
  /** Hard limit on price and hold, in USD. */
  readonly max_budget?: number;
  /** The only tools that the named agent may use; part of what the task's own token allows. */
  readonly scope?: readonly string[];
}

export type DelegateAnswer =
  | { readonly ok: true; readonly data: string; readonly receipt: ExecutionReceipt }
  /** With a receipt: the other agent answered, but its work failed or was denied. */
  | { readonly ok: false; readonly error: string; readonly receipt?: ExecutionReceipt };

/** A tool's way to hire another agent; the verified sub-receipt is nested into the task's own. */
export type Delegate = (request: DelegateRequest) => Promise<DelegateAnswer>;

/** The relay's side of it: one delegation on behalf of `task`, ended with it. */
export type DelegateTask = (
  request: DelegateRequest,
  on: { readonly task: WorkTask; readonly signal: AbortSignal },
) => Promise<DelegateAnswer>;
