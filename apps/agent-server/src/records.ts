import type { Config } from "./config/config.ts";
import { chooseEmbedder } from "./memory/choose-embedder.ts";
import type { Memory } from "./memory/memory.ts";
import { openMemory } from "./memory/open-memory.ts";
import { openAuditLog, type AuditLog } from "./policy/audit-log.ts";
import type { Runtime } from "./runtime.ts";

/** The audit log and the memory that an agent writes while it runs. */
export interface Records {
  readonly audit: AuditLog;
  readonly memory: Memory;
  close(): void;
}

export type OpenRecordsResult =
  | { readonly ok: true; readonly records: Records }
  | { readonly ok: false; readonly faults: readonly string[] };

export function openRecords(
  { auditLog, memory: { path, embeddings } }: Pick<Config, "auditLog" | "memory">,
  runtime: Runtime,
): OpenRecordsResult {
  const openedAudit = openAuditLog(auditLog, runtime);
  if (!openedAudit.ok) return openedAudit;
  const openedMemory = openMemory({ path, embedder: chooseEmbedder(embeddings, runtime), runtime });
  if (!openedMemory.ok) {
    openedAudit.audit.close();
    return { ok: false, faults: [openedMemory.fault] };
  }
  return {
    ok: true,
    records: {
      audit: openedAudit.audit,
      memory: openedMemory.memory,
      close() {
        openedAudit.audit.close();
        openedMemory.memory.close();
      },
    },
  };
}
