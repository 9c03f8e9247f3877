import type { Runtime } from "../../runtime.ts";

/** Waits that can be ended early. */
export interface Pauses {
  /** Resolves after `ms`, or earlier when the wait is ended. */
  wait(ms: number, of: { readonly unreachable: boolean }): Promise<void>;
  /** Ends the waits for an unreachable relay, or all of them. */
  end(which: "unreachable" | "all"): void;
}

export function createPauses(runtime: Pick<Runtime, "schedule">): Pauses {
  const waits = new Map<() => void, { readonly unreachable: boolean }>();
  return {
    wait(ms, of) {
      return new Promise((resolve) => {
        const end = () => {
          cancel();
          waits.delete(end);
          resolve();
        };
        const cancel = runtime.schedule(ms, end);
        waits.set(end, of);
      });
    },
    end(which) {
      for (const [end, { unreachable }] of waits) if (which === "all" || unreachable) end();
    },
  };
}
