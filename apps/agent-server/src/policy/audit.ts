import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../runtime.ts";

/** What is written down before a call runs, if it runs; of the arguments their hash only. */
export interface DecidedLine {
  readonly call_id: string;
  readonly tool: string;
  readonly risk: number;
  readonly caller: string;
  readonly trust: string;
  readonly task_id?: string;
  readonly args_hash: string;
  readonly decision: "allowed" | "denied" | "approval_required";
  readonly reason?: string;
  readonly approval_id?: string;
}

/** What is written down when it has run. */
export interface FinishedLine {
  readonly call_id: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly duration_ms: number;
}

export interface Audit {
  /** Done when the line is kept; rejects when it cannot be, and no tool runs then. */
  decided(line: DecidedLine): Promise<void>;
  /** What ran cannot be undone, so a line that is lost here only shows in the log. */
  finished(line: FinishedLine): void;
  close(): void;
}

type OpenResult =
  | { readonly ok: true; readonly audit: Audit }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Opens the audit log; without a path it goes into the ordinary one. */
export function openAudit(
  path: string | undefined,
  runtime: Pick<Runtime, "now" | "log" | "schedule" | "afterTurn">,
): OpenResult {
  if (path === undefined) return { ok: true, audit: auditToLog(runtime) };
  try {
    return { ok: true, audit: auditToFile(path, runtime) };
  } catch (cause) {
    return { ok: false, faults: [`auditLog: ${path} cannot be written: ${String(cause)}`] };
  }
}

/** Into the ordinary log, for whoever collects that anyway. */
export function auditToLog({ log }: Pick<Runtime, "log">): Audit {
  return {
    decided: async (line) => log("info", "tool.decided", { ...line }),
    finished: (line) => log("info", "tool.finished", { ...line }),
    close() {},
  };
}

const flushMs = 1_000;
const newline = 0x0a;

/**
 * JSON lines behind what the file already holds; it is readable for its owner only. What is decided in one
 * turn of the event loop is written at once, and is in the file before any of it runs; how a call ended is
 * kept back for the next decision, or a second.
 */
function auditToFile(
  path: string,
  runtime: Pick<Runtime, "now" | "log" | "schedule" | "afterTurn">,
): Audit {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "a+", 0o600);
  let kept = "";
  let lastByte = lastByteOf(file);
  let cancelFlush = () => {};
  let deciding: Promise<void> | undefined;

  function append(): void {
    if (kept === "") return;
    // What a crash or a full disk has cut short is a line of its own.
    let rest = Buffer.from(lastByte === newline ? kept : `\n${kept}`);
    kept = "";
    // A disk that is about to be full takes a part, and says so only when it is given the rest.
    while (rest.length > 0) {
      const written = writeSync(file, rest);
      lastByte = rest[written - 1];
      rest = rest.subarray(written);
    }
  }

  function flush(): void {
    try {
      append();
    } catch (cause) {
      runtime.log("error", "audit.failed", { cause: String(cause) });
    }
  }

  function appendSoon(): Promise<void> {
    // Or it would write the decision, and fail to, behind the back of those who wait for it.
    cancelFlush();
    return new Promise((resolve, reject) => {
      runtime.afterTurn(() => {
        deciding = undefined;
        try {
          append();
          resolve();
        } catch (cause) {
          reject(cause as Error);
        }
      });
    });
  }

  function add(event: string, line: DecidedLine | FinishedLine): void {
    const ts = new Date(runtime.now()).toISOString();
    kept += `${JSON.stringify({ ts, event, ...line })}\n`;
  }

  return {
    decided(line) {
      add("tool.decided", line);
      return (deciding ??= appendSoon());
    },
    finished(line) {
      if (kept === "") cancelFlush = runtime.schedule(flushMs, flush);
      add("tool.finished", line);
    },
    close() {
      cancelFlush();
      flush();
      closeSync(file);
    },
  };
}

/** An empty file counts as one that ends with its line. */
function lastByteOf(file: number): number | undefined {
  const { size } = fstatSync(file);
  if (size === 0) return newline;
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}
