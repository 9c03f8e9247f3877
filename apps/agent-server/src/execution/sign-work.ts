import type { SignedLedger } from "@agent/ledger";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Runtime } from "../runtime.ts";
import { buildReceipt, type ReceiptSigner, type StartedTask } from "./build-receipt.ts";
import type { Outcome } from "./executor.ts";
import { buildLedger } from "./ledger/build-ledger.ts";
import type { Timeline } from "./ledger/timeline.ts";

/** The receipt of a task, and the ledger of its execution if the agent signs ledgers. */
export interface SignedWork {
  readonly receipt: ExecutionReceipt;
  readonly ledger?: SignedLedger;
  /** The time at which the relay ends the claim, by this agent's clock; undefined if no time is known. */
  readonly dueAt?: number;
}

/** The parts of an execution that are signed besides its outcome; a refused task has none. */
export interface Execution {
  readonly used?: readonly string[];
  readonly nested?: readonly ExecutionReceipt[];
  readonly timeline?: Timeline | undefined;
}

/** Signs the end of a task, and logs those parts of the execution that could not be signed. */
export function signWork(
  task: StartedTask,
  outcome: Outcome,
  { used = [], nested = [], timeline }: Execution,
  signer: ReceiptSigner & { readonly runtime: Pick<Runtime, "now" | "log"> },
): SignedWork {
  const { identity, runtime } = signer;
  const correlationId = task.taskId;
  const end = { outcome, toolsUsed: used, nested, completedAt: runtime.now() };
  const receipt = buildReceipt(task, end, signer);
  const count = nested.length - (receipt.delegation_receipts?.length ?? 0);
  if (count > 0) runtime.log("warn", "receipt.nested_left_out", { correlationId, count });
  if (timeline === undefined) return { receipt };
  const ledger = buildLedger(timeline, { receipt, nested }, identity.secretKey);
  if (ledger !== undefined) return { receipt, ledger };
  runtime.log("warn", "ledger.left_out", { correlationId });
  return { receipt };
}
