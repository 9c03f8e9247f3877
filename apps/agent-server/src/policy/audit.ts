import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../runtime.ts";

/** One line of the audit log; arguments are in it as their hash only. */
export type AuditLine =
  | {
      readonly event: "tool.decided";
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
  | {
      readonly event: "tool.finished";
      readonly call_id: string;
      readonly tool: string;
      readonly ok: boolean;
      readonly duration_ms: number;
    };

export interface Audit {
  /** Throws when the line cannot be kept; no tool runs then. */
  write(line: AuditLine): void;
  close(): void;
}

type OpenResult =
  | { readonly ok: true; readonly audit: Audit }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Opens the audit log; without a path it goes into the ordinary one. */
export function openAudit(
  path: string | undefined,
  runtime: Pick<Runtime, "now" | "log" | "schedule">,
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
    write: ({ event, ...fields }) => log("info", event, fields),
    close() {},
  };
}

const flushMs = 1_000;

/**
 * JSON lines behind what the file already holds; it is readable for its owner only. A decision is written
 * at once; how a call ended is kept back for the next line, or a second.
 */
function auditToFile(path: string, runtime: Pick<Runtime, "now" | "log" | "schedule">): Audit {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "a", 0o600);
  let ends = "";
  let cancelFlush = () => {};

  function append(text: string): void {
    cancelFlush();
    const lines = ends + text;
    ends = "";
    if (lines !== "") writeSync(file, lines);
  }

  function flush(): void {
    try {
      append("");
    } catch (cause) {
      runtime.log("error", "audit.failed", { cause: String(cause) });
    }
  }

  return {
    write(line) {
      const ts = new Date(runtime.now()).toISOString();
      const text = `${JSON.stringify({ ts, ...line })}\n`;
      if (line.event === "tool.decided") return append(text);
      if (ends === "") cancelFlush = runtime.schedule(flushMs, flush);
      ends += text;
    },
    close() {
      flush();
      closeSync(file);
    },
  };
}
