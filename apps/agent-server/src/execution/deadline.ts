import type { Runtime } from "../runtime.ts";

export type DeadlineResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: "timeout" | "cancelled" };

/**
 * Runs `work` for at most `ms` milliseconds or until `cancel` fires. Both abort the work's signal,
 * and neither waits for work that ignores it. Timer and listener are removed afterwards.
 */
export async function withDeadline<T>(
  options: { runtime: Runtime; ms: number; cancel?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<DeadlineResult<T>> {
  const { runtime, ms, cancel } = options;
  const controller = new AbortController();
  let onCancel = () => {};
  let clear = () => {};
  const ended = new Promise<DeadlineResult<T>>((resolve) => {
    const end = (reason: "timeout" | "cancelled", cause: unknown) => {
      controller.abort(cause);
      resolve({ ok: false, reason });
    };
    onCancel = () => end("cancelled", cancel?.reason);
    clear = runtime.schedule(ms, () => end("timeout", new Error("timeout")));
  });
  cancel?.addEventListener("abort", onCancel, { once: true });
  try {
    if (cancel?.aborted) {
      onCancel();
      return await ended;
    }
    const working = work(controller.signal).then((value): DeadlineResult<T> => ({
      ok: true,
      value,
    }));
    return await Promise.race([ended, working]);
  } finally {
    clear();
    cancel?.removeEventListener("abort", onCancel);
  }
}
