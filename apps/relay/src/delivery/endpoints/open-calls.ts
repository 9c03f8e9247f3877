/** The calls of endpoints in progress, at most one per task, because each holds its task's claim. */
export interface OpenCalls {
  begin(taskId: string): { readonly signal: AbortSignal; readonly end: () => void };
  /** Cancels the call for a task, if there is one. */
  cancel(taskId: string): void;
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<string, AbortController>();
  return {
    begin(taskId) {
      const controller = new AbortController();
      open.set(taskId, controller);
      const end = () => {
        if (open.get(taskId) === controller) open.delete(taskId);
      };
      return { signal: controller.signal, end };
    },
    cancel: (taskId) => open.get(taskId)?.abort(new Error("the submitter cancelled the task")),
  };
}
