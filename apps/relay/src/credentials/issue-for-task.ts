import type { TaskOutcome } from "@agent/routing-semiring";
import type { Tx } from "../storage/storage.ts";
import type { RecordedOutcome } from "../trust/record-trust-outcome.ts";
import { issueReputation, issueTrust, type IssuerDependencies } from "./issue.ts";
import { isStatementChanged } from "./stated-level.ts";
import type { NewCredential } from "./store.ts";

/** A completed task with the change in its delegator's trust. */
export interface EndedTask {
  readonly taskId: string;
  readonly delegatorId: string | null;
  readonly executorId: string;
  /** The status under which the task counts; see `getCountedStatus`. */
  readonly status: TaskOutcome["status"];
  readonly trust: RecordedOutcome | undefined;
}

/**
 * Issues the relay's credentials when a task ends, unless issuing is off: reputation for a success, trust for
 * each change of a level or of the band of fees. A task for oneself earns none.
 */
export async function issueForTask(
  tx: Tx,
  services: IssuerDependencies,
  { taskId, delegatorId, executorId, status, trust }: EndedTask,
): Promise<NewCredential[]> {
  if (!services.config.identity.issueCredentials || delegatorId === executorId) return [];
  const isSuccess = status === "completed";
  const issued = [
    isSuccess ? await issueReputation(tx, services, executorId, taskId) : undefined,
    trust !== undefined && isStatementChanged(trust, services.config.trust)
      ? await issueTrust(tx, services, trust.record)
      : undefined,
  ];
  return issued.filter((credential) => credential !== undefined);
}
