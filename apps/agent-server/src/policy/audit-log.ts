import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../runtime.ts";

/**
 * The audit record of a decision, written before the call runs; it holds only a hash of the
 * arguments.
 */
export interface DecisionRecord {
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

/** The audit record of a finished call. */
export interface CompletionRecord {
  readonly call_id: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly duration_ms: number;
}

export interface AuditLog {
  /**
   * Resolves when the line is written; rejects when it cannot be, and then the tool must not run.
   */
  recordDecision(line: DecisionRecord): Promise<void>;
  /** Records the end of a call. A lost line is only logged, because the call cannot be undone. */
  recordCompletion(line: CompletionRecord): void;
  close(): void;
}

type OpenAuditLogResult =
  | { readonly ok: true; readonly audit: AuditLog }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Opens the audit log; without a path records go to the ordinary log. */
export function openAuditLog(
  path: string | undefined,
  runtime: Pick<Runtime, "now" | "log" | "schedule" | "afterTurn">,
): OpenAuditLogResult {
  if (path === undefined) return { ok: true, audit: createLoggerAudit(runtime) };
  try {
    return { ok: true, audit: createFileAudit(path, runtime) };
  } catch (cause) {
    return { ok: false, faults: [`auditLog: ${path} cannot be written: ${String(cause)}`] };
  }
}

/** Creates an audit log that writes to the ordinary log, for setups that collect it already. */
export function createLoggerAudit({ log }: Pick<Runtime, "log">): AuditLog {
  return {
    recordDecision: async (line) => log("info", "tool.decided", { ...line }),
    recordCompletion: (line) => log("info", "tool.finished", { ...line }),
    close() {},
  };
}

const FLUSH_DELAY_MS = 1_000;
const NEWLINE = 0x0a;

/**
 * Appends JSON lines to a file that only its owner can read. The decisions of one turn of the event
 * loop are written together before any of their calls runs. Ends of calls are buffered until the
 * next decision, or for a second.
 */
function createFileAudit(
  path: string,
  runtime: Pick<Runtime, "now" | "log" | "schedule" | "afterTurn">,
): AuditLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "a+", 0o600);
  let buffered = "";
  let lastByte = readLastByte(file);
  let cancelFlush = () => {};
  let pendingAppend: Promise<void> | undefined;

  function append(): void {
    if (buffered === "") return;
    // A line that a crash or a full disk cut short must not run into the next one.
    let remaining = Buffer.from(lastByte === NEWLINE ? buffered : `\n${buffered}`);
    buffered = "";
    // A nearly full disk accepts a part and reports the error only for the rest.
    while (remaining.length > 0) {
      const written = writeSync(file, remaining);
      lastByte = remaining[written - 1];
      remaining = remaining.subarray(written);
    }
  }

  function flush(): void {
    try {
      append();
    } catch (cause) {
      runtime.log("error", "audit.failed", { cause: String(cause) });
    }
  }

  function appendAfterTurn(): Promise<void> {
    // A pending flush could write the decision and swallow the error that its caller must see.
    cancelFlush();
    return new Promise((resolve, reject) => {
      runtime.afterTurn(() => {
        pendingAppend = undefined;
        try {
          append();
          resolve();
        } catch (cause) {
          reject(cause as Error);
        }
      });
    });
  }

  function bufferLine(event: string, line: DecisionRecord | CompletionRecord): void {
    const ts = new Date(runtime.now()).toISOString();
    buffered += `${JSON.stringify({ ts, event, ...line })}\n`;
  }

  return {
    recordDecision(line) {
      bufferLine("tool.decided", line);
      return (pendingAppend ??= appendAfterTurn());
    },
    recordCompletion(line) {
      if (buffered === "") cancelFlush = runtime.schedule(FLUSH_DELAY_MS, flush);
      bufferLine("tool.finished", line);
    },
    close() {
      cancelFlush();
      flush();
      closeSync(file);
    },
  };
}

/** Reads the last byte; an empty file counts as ending with a newline. */
function readLastByte(file: number): number | undefined {
  const { size } = fstatSync(file);
  if (size === 0) return NEWLINE;
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}
