import { DELEGATION_EXTENSION, type Task, type TaskEvent, type TaskStatus } from "@agent/wire";

export interface TaskSnapshot {
  readonly task: Task;
  readonly receipt: Readonly<Record<string, unknown>> | null;
  readonly attestation?: Readonly<Record<string, unknown>>;
}

const a2aTaskStates: Readonly<Record<TaskStatus, string>> = {
  pending: "TASK_STATE_SUBMITTED",
  claimed: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  denied: "TASK_STATE_REJECTED",
  cancelled: "TASK_STATE_CANCELED",
};

/** Converts a task to A2A 1.0. A task takes one message, so it is its own context. */
export function toA2aTask(found: TaskSnapshot): Record<string, unknown> {
  const { task } = found;
  return {
    id: task.task_id,
    contextId: task.task_id,
    status: { state: a2aTaskStates[task.status] },
    artifacts: toArtifacts(found),
    metadata: {
      [DELEGATION_EXTENSION]: {
        agent_id: task.agent_id,
        assigned_to: task.assigned_to,
        expires_at: task.expires_at,
        estimated_cost: task.estimated_cost,
        amount_locked: task.amount_locked,
      },
    },
  };
}

/** Converts the result to text, with the signed receipt that proves it. */
export function toArtifacts({ receipt, attestation }: TaskSnapshot): Record<string, unknown>[] {
  if (receipt === null) return [];
  const { result } = receipt;
  const text = typeof result === "string" ? [{ text: result, mediaType: "text/plain" }] : [];
  const artifacts = [
    { artifactId: "result", name: "Result", parts: text },
    { artifactId: "receipt", name: "Signed receipt", parts: [toDataPart(receipt)] },
    {
      artifactId: "attestation",
      name: "The other relay's attestation of the receipt",
      parts: attestation === undefined ? [] : [toDataPart(attestation)],
    },
  ];
  return artifacts.filter(({ parts }) => parts.length > 0);
}

const toDataPart = (data: unknown) => ({ data, mediaType: "application/json" });

const statusByEvent = {
  submitted: "pending",
  released: "pending",
  reassigned: "pending",
  claimed: "claimed",
  progress: "claimed",
  completed: "completed",
  failed: "failed",
  denied: "denied",
  cancelled: "cancelled",
} as const satisfies Record<Exclude<TaskEvent["type"], "expired">, TaskStatus>;

/** Converts an event to a status update; undefined for an expired task, which no longer exists. */
export function toStatusUpdate(
  event: TaskEvent & { readonly type: keyof typeof statusByEvent },
): Record<string, unknown> {
  const of = { taskId: event.task_id, contextId: event.task_id };
  const message = event.note !== undefined && {
    message: {
      messageId: `${event.task_id}:${event.event_id}`,
      ...of,
      role: "ROLE_AGENT",
      parts: [{ text: event.note }],
    },
  };
  return {
    ...of,
    status: {
      state: a2aTaskStates[statusByEvent[event.type]],
      ...message,
      timestamp: new Date(event.at).toISOString(),
    },
  };
}
