import type { Log, LogLevel } from "../log.ts";

/** The log of one kind of fault that attempts repeat every few seconds for as long as it lasts. */
export interface FaultLog {
  /** Logs the fault; while the same code and status last, its repetitions are logged at the debug level only. */
  note(fault: Fault, fields?: Record<string, unknown>): void;
  /** Ends the fault, so that its next occurrence is logged again; returns whether there was one. */
  clear(): boolean;
}

interface Fault {
  readonly code: string | number;
  readonly status?: number | undefined;
}

export function createFaultLog(log: Log, level: LogLevel, event: string): FaultLog {
  let last: string | undefined;
  return {
    note({ code, status }, fields = {}) {
      const fault = `${code} ${status}`;
      log(fault === last ? "debug" : level, event, { code, status, ...fields });
      last = fault;
    },
    clear() {
      const hadFault = last !== undefined;
      last = undefined;
      return hadFault;
    },
  };
}
