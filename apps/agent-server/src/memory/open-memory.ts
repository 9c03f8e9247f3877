import type { Runtime } from "../runtime.ts";
import type { Embedder } from "./embedder.ts";
import { createMemory, type Memory } from "./memory.ts";
import { openDatabase } from "./open-database.ts";
import { createMemoryStore } from "./store.ts";

export type OpenMemoryResult =
  | { readonly ok: true; readonly memory: Memory }
  | { readonly ok: false; readonly fault: string };

/** Opens the memory at a path; `:memory:` starts empty and is discarded when it is closed. */
export function openMemory(options: {
  path: string;
  embedder: Embedder;
  runtime: Pick<Runtime, "now" | "randomBytes">;
}): OpenMemoryResult {
  const opened = openDatabase(options.path);
  if (!opened.ok) return opened;
  return { ok: true, memory: createMemory({ ...options, store: createMemoryStore(opened.db) }) };
}
