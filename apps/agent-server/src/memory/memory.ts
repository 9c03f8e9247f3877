import { sha256Hex, uuidV7 } from "@agent/crypto";
import type { Runtime } from "../runtime.ts";
import { cosine, type Embedder } from "./embedder.ts";
import { confidenceAt, freshFading, reinforced } from "./fading.ts";
import { stricter, takenSensitivity, type Sensitivity } from "./sensitivity.ts";
import type { Candidate, MemoryStore, MemoryType, StoredMemory } from "./store.ts";

export const memoryLimits = {
  contentBytes: 16_384,
  perCaller: 2_000,
  recallDefault: 10,
  recallMax: 100,
  /** Of everything that is told at once, as JSON: more would not pass as a tool's result. */
  toldBytes: 393_216,
} as const;

/** Memories that another embedder left are taken over in portions, so that no recall waits for all. */
const takeover = 64;

export type MemoryCode = "memory.sensitivity_refused" | "memory.too_large" | "memory.not_embedded";

export interface MemoryRefusal {
  readonly ok: false;
  readonly code: MemoryCode;
  readonly detail: string;
}

export interface Note {
  /** The key of the caller that it is formed with; nobody else ever sees it. */
  readonly caller: string;
  readonly content: string;
  readonly sensitivity?: string | undefined;
  readonly type: MemoryType;
}

/** One memory as it is told (specification, "Other shapes"). */
export interface RecallItem {
  readonly content: string;
  readonly confidence: number;
  readonly similarity: number;
  readonly half_life_days: number;
  readonly memory_type: MemoryType;
  readonly created_at: number;
}

export interface Recalled {
  readonly ok: true;
  /** The fittest first: similarity times confidence. */
  readonly items: readonly RecallItem[];
}

export interface Memory {
  /** From this similarity on a memory is about what was asked. */
  readonly related: number;
  /** Keeps a note, or reinforces the one that says the same. */
  remember(
    note: Note,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly nodeId: string } | MemoryRefusal>;
  /** What this caller's memories, those of sensitivity `none`, have on a query; what is related is reinforced. */
  recall(
    query: string,
    by: { readonly caller: string; readonly limit?: number | undefined },
    signal: AbortSignal,
  ): Promise<Recalled | MemoryRefusal>;
  /** The same memories, newest first, without being touched. */
  snapshot(caller: string): readonly Omit<RecallItem, "similarity">[];
  /** All memories of all callers. */
  count(): number;
  close(): void;
}

export function createMemory(parts: {
  store: MemoryStore;
  embedder: Embedder;
  runtime: Pick<Runtime, "now" | "randomBytes">;
}): Memory {
  const { store, embedder, runtime } = parts;

  return {
    related: embedder.related,

    async remember({ caller, content, sensitivity: given, type }, signal) {
      const sensitivity = takenSensitivity(given);
      if (sensitivity === undefined) return sensitivityRefused;
      if (Buffer.byteLength(content) > memoryLimits.contentBytes) return tooLarge;
      const embedded = await embedder.embed([content], signal);
      if (!embedded.ok) return embedded;
      const [embedding = new Float32Array()] = embedded.vectors;
      return store.atomically(() => keep({ caller, content, sensitivity, type, embedding }));
    },

    async recall(query, { caller, limit = memoryLimits.recallDefault }, signal) {
      const foreign = store.foreign(caller, embedder.id, takeover);
      const texts = [query, ...foreign.map(({ content }) => content)];
      const embedded = await embedder.embed(texts, signal);
      if (!embedded.ok) return embedded;
      const [wanted = new Float32Array(), ...vectors] = embedded.vectors;

      return store.atomically(() => {
        for (const [index, { nodeId }] of foreign.entries()) {
          const vector = vectors[index];
          if (vector !== undefined) store.embed(nodeId, embedder.id, vector);
        }
        const now = runtime.now();
        const best = rank(store.tellable(caller, embedder.id), wanted, now).slice(0, limit);
        const items = best.flatMap(({ candidate, similarity }) => {
          const memory = store.byId(candidate.nodeId);
          return memory === undefined ? [] : [{ ...told(memory, now), similarity }];
        });
        for (const { candidate, similarity } of best) {
          if (similarity < embedder.related) continue;
          store.reinforce(candidate.nodeId, reinforced(candidate, now));
        }
        return { ok: true, items: fitting(items) };
      });
    },

    snapshot(caller) {
      const now = runtime.now();
      const newest = store.newest(caller, memoryLimits.recallMax);
      return fitting(newest.map((memory) => told(memory, now)));
    },

    count: () => store.count(),
    close: () => store.close(),
  };

  function keep(note: {
    caller: string;
    content: string;
    sensitivity: Sensitivity;
    type: MemoryType;
    embedding: Float32Array;
  }): { ok: true; nodeId: string } {
    const { caller, content, sensitivity, type, embedding } = note;
    const now = runtime.now();
    const contentHash = sha256Hex(content);
    const known = store.byContent(caller, contentHash);
    if (known !== undefined) {
      store.reinforce(known.nodeId, reinforced(known, now));
      store.classify(known.nodeId, stricter(known.sensitivity, sensitivity));
      return { ok: true, nodeId: known.nodeId };
    }
    store.forget(caller, memoryLimits.perCaller - 1, now);
    const nodeId = uuidV7(now, runtime.randomBytes(10));
    store.insert({
      nodeId,
      caller,
      content,
      contentHash,
      sensitivity,
      memoryType: type,
      ...freshFading(now),
      createdAt: now,
      embedder: embedder.id,
      embedding,
    });
    return { ok: true, nodeId };
  }
}

function rank(candidates: readonly Candidate[], wanted: Float32Array, now: number) {
  return candidates
    .map((candidate) => ({ candidate, similarity: cosine(wanted, candidate.embedding) }))
    .filter(({ similarity }) => similarity > 0)
    .map((found) => ({ ...found, score: found.similarity * confidenceAt(found.candidate, now) }))
    .toSorted((a, b) => b.score - a.score || b.candidate.createdAt - a.candidate.createdAt);
}

function told(memory: StoredMemory, now: number): Omit<RecallItem, "similarity"> {
  return {
    content: memory.content,
    confidence: confidenceAt(memory, now),
    half_life_days: memory.halfLifeDays,
    memory_type: memory.memoryType,
    created_at: memory.createdAt,
  };
}

/** The first of these, as many as may be told at once. */
function fitting<T>(items: readonly T[]): T[] {
  let left: number = memoryLimits.toldBytes;
  return items.filter((item) => {
    left -= Buffer.byteLength(JSON.stringify(item));
    return left >= 0;
  });
}

const sensitivityRefused: MemoryRefusal = {
  ok: false,
  code: "memory.sensitivity_refused",
  detail: 'Only memories of sensitivity "none" or "personal" are taken',
};

const tooLarge: MemoryRefusal = {
  ok: false,
  code: "memory.too_large",
  detail: `A memory holds at most ${memoryLimits.contentBytes} bytes of UTF-8`,
};
