import { silentLog } from "../../log.ts";
import { createSystemRuntime, type Runtime } from "../../runtime.ts";

/**
 * A real runtime whose timers of up to a minute fire at once; `waits` collects their delays in ms.
 */
export function createFastRuntime(): Runtime & { readonly waits: readonly number[] } {
  const runtime = createSystemRuntime(silentLog);
  const waits: number[] = [];
  return {
    ...runtime,
    randomBytes: (count) => new Uint8Array(count),
    waits,
    schedule(ms, task) {
      if (ms > 60_000) return runtime.schedule(ms, task);
      waits.push(ms);
      return runtime.schedule(0, task);
    },
  };
}
