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
  runtime: Pick<Runtime, "now" | "log">,
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

/** JSON lines behind what the file already holds; it is readable for its owner only. */
function auditToFile(path: string, { now }: Pick<Runtime, "now">): Audit {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "a", 0o600);
  return {
    write(line) {
      writeSync(file, `${JSON.stringify({ ts: new Date(now()).toISOString(), ...line })}\n`);
    },
    close: () => closeSync(file),
  };
}
