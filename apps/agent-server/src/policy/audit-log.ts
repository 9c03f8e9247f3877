import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../runtime.ts";

/** What is written down before a call runs, if it runs; of the arguments their hash only. */
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

/** What is written down when it has run. */
export interface CompletionRecord {
  readonly call_id: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly duration_ms: number;
}

export interface AuditLog {
  /** Done when the line is kept; rejects when it cannot be, and no tool runs then. */
  recordDecision(line: DecisionRecord): Promise<void>;
  /** What ran cannot be undone, so a line that is lost here only shows in the log. */
  recordCompletion(line: CompletionRecord): void;
  close(): void;
}

type OpenAuditLogResult =
  | { readonly ok: true; readonly audit: AuditLog }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Opens the audit log; without a path it goes into the ordinary one. */
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

/** Into the ordinary log, for whoever collects that anyway. */
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
 * JSON lines behind what the file already holds; it is readable for its owner only. What is decided in one
 * turn of the event loop is written at once, and is in the file before any of it runs; how a call ended is
 * kept back for the next decision, or a second.
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
    // What a crash or a full disk has cut short is a line of its own.
    let remaining = Buffer.from(lastByte === NEWLINE ? buffered : `\n${buffered}`);
    buffered = "";
    // A disk that is about to be full takes a part, and says so only when it is given the rest.
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
    // Or it would write the decision, and fail to, behind the back of those who wait for it.
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

/** An empty file counts as one that ends with its line. */
function readLastByte(file: number): number | undefined {
  const { size } = fstatSync(file);
  if (size === 0) return NEWLINE;
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}
