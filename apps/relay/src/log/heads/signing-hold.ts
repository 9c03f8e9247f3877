import type { Log } from "../../observability/log.ts";

/** Why a relay signs no head of its log. */
export interface SigningHold {
  /** Keeps the first reason and logs it. */
  readonly begin: (detail: string) => void;
  readonly end: () => void;
  /** Undefined while heads are signed. */
  readonly reason: () => string | undefined;
}

export function createSigningHold(log: Pick<Log, "error">, origin: () => string): SigningHold {
  let held: string | undefined;
  return {
    begin(detail) {
      if (held === undefined) log.error("log.behind_witness", { origin: origin(), detail });
      held ??= detail;
    },
    end() {
      held = undefined;
    },
    reason: () => held,
  };
}
