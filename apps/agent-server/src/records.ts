import type { Config } from "./config.ts";
import { chooseEmbedder } from "./memory/choose-embedder.ts";
import type { Memory } from "./memory/memory.ts";
import { openMemory } from "./memory/open-memory.ts";
import { openAudit, type Audit } from "./policy/audit.ts";
import type { Runtime } from "./runtime.ts";

/** What an agent writes down while it runs. */
export interface Records {
  readonly audit: Audit;
  readonly memory: Memory;
  close(): void;
}

export type OpenedRecords =
  | { readonly ok: true; readonly records: Records }
  | { readonly ok: false; readonly faults: readonly string[] };

export function openRecords(
  { auditLog, memory: { path, embeddings } }: Pick<Config, "auditLog" | "memory">,
  runtime: Runtime,
): OpenedRecords {
  const audit = openAudit(auditLog, runtime);
  if (!audit.ok) return audit;
  const memory = openMemory({ path, embedder: chooseEmbedder(embeddings, runtime), runtime });
  if (!memory.ok) {
    audit.audit.close();
    return { ok: false, faults: [memory.fault] };
  }
  return {
    ok: true,
    records: {
      audit: audit.audit,
      memory: memory.memory,
      close() {
        audit.audit.close();
        memory.memory.close();
      },
    },
  };
}
