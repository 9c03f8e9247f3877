import { sha256Hex, uuidV7 } from "@agent/crypto";
import type { Runtime } from "../runtime.ts";
import { calculateCosine, type Embedder } from "./embedder.ts";
import { calculateConfidence, createInitialDecay, reinforceDecay } from "./decay.ts";
import { pickStricterSensitivity, parseSensitivity, type Sensitivity } from "./sensitivity.ts";
import type { Candidate, MemoryStore, MemoryType, StoredMemory } from "./store.ts";

export const memoryLimits = {
  contentBytes: 16_384,
  memoriesPerCaller: 2_000,
  recallDefault: 10,
  recallMax: 100,
  /** Limit of one answer as JSON; a larger one would exceed a tool's result. */
  recalledBytes: 393_216,
} as const;

/** The memories of a former embedder that one recall embeds again; all at once would delay it. */
const REEMBED_BATCH_SIZE = 64;

export type MemoryCode = "memory.sensitivity_refused" | "memory.too_large" | "memory.not_embedded";

export interface MemoryRefusal {
  readonly ok: false;
  readonly code: MemoryCode;
  readonly detail: string;
}

export interface NewMemory {
  /** The key of the caller that the memory belongs to; it is never shown to another caller. */
  readonly caller: string;
  readonly content: string;
  readonly sensitivity?: string | undefined;
  readonly type: MemoryType;
}

/** One memory as it is shown to the caller (specification, "Other shapes"). */
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
  /** The best matches first: similarity times confidence. */
  readonly items: readonly RecallItem[];
}

export interface Memory {
  /** The lowest similarity of a memory that is related to a query. */
  readonly relatedThreshold: number;
  /** Stores a note, or reinforces the one with the same content. */
  remember(
    note: NewMemory,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly nodeId: string } | MemoryRefusal>;
  /**
   * Finds this caller's memories of sensitivity `none` for a query; related ones are reinforced.
   */
  recall(
    query: string,
    by: { readonly caller: string; readonly limit?: number | undefined },
    signal: AbortSignal,
  ): Promise<Recalled | MemoryRefusal>;
  /** Lists this caller's memories of sensitivity `none`, newest first, without reinforcing them. */
  listNewest(caller: string): readonly Omit<RecallItem, "similarity">[];
  /** Counts the memories of all callers. */
  count(): number;
  close(): void;
}

interface MemoryParts {
  readonly store: MemoryStore;
  readonly embedder: Embedder;
  readonly runtime: Pick<Runtime, "now" | "randomBytes">;
}

export function createMemory(parts: MemoryParts): Memory {
  const { store, embedder, runtime } = parts;

  return {
    relatedThreshold: embedder.relatedThreshold,

    async remember({ caller, content, sensitivity: given, type }, signal) {
      const sensitivity = parseSensitivity(given);
      if (sensitivity === undefined) return sensitivityRefusal;
      if (Buffer.byteLength(content) > memoryLimits.contentBytes) return tooLargeRefusal;
      const embedded = await embedder.embed([content], signal);
      if (!embedded.ok) return embedded;
      const [embedding = new Float32Array()] = embedded.vectors;
      return store.runInTransaction(() =>
        saveNote(parts, { caller, content, sensitivity, type, embedding }),
      );
    },

    async recall(query, { caller, limit = memoryLimits.recallDefault }, signal) {
      const staleMemories = store.listForeignEmbedded(caller, embedder.id, REEMBED_BATCH_SIZE);
      const texts = [query, ...staleMemories.map(({ content }) => content)];
      const embedded = await embedder.embed(texts, signal);
      if (!embedded.ok) return embedded;
      const [queryVector = new Float32Array(), ...vectors] = embedded.vectors;

      return store.runInTransaction(() => {
        for (const [index, { nodeId }] of staleMemories.entries()) {
          const vector = vectors[index];
          if (vector !== undefined) store.updateEmbedding(nodeId, embedder.id, vector);
        }
        const now = runtime.now();
        const ranked = rankCandidates(
          store.listRecallable(caller, embedder.id),
          queryVector,
          now,
        ).slice(0, limit);
        const items = ranked.flatMap(({ candidate, similarity }) => {
          const memory = store.findById(candidate.nodeId);
          return memory === undefined ? [] : [{ ...toRecallItem(memory, now), similarity }];
        });
        for (const { candidate, similarity } of ranked) {
          if (similarity < embedder.relatedThreshold) continue;
          store.updateDecay(candidate.nodeId, reinforceDecay(candidate, now));
        }
        return { ok: true, items: limitToRecalledBytes(items) };
      });
    },

    listNewest(caller) {
      const now = runtime.now();
      const newest = store.listNewest(caller, memoryLimits.recallMax);
      return limitToRecalledBytes(newest.map((memory) => toRecallItem(memory, now)));
    },

    count: () => store.count(),
    close: () => store.close(),
  };
}

interface CheckedNote {
  readonly caller: string;
  readonly content: string;
  readonly sensitivity: Sensitivity;
  readonly type: MemoryType;
  readonly embedding: Float32Array;
}

/**
 * Inserts a note, or reinforces the one of the same content under the stricter sensitivity of the
 * two.
 */
function saveNote(
  { store, embedder, runtime }: MemoryParts,
  { caller, content, sensitivity, type, embedding }: CheckedNote,
): { readonly ok: true; readonly nodeId: string } {
  const now = runtime.now();
  const contentHash = sha256Hex(content);
  const known = store.findByContent(caller, contentHash);
  if (known !== undefined) {
    store.updateDecay(known.nodeId, reinforceDecay(known, now));
    store.updateSensitivity(known.nodeId, pickStricterSensitivity(known.sensitivity, sensitivity));
    return { ok: true, nodeId: known.nodeId };
  }
  store.purgeMostDecayed(caller, memoryLimits.memoriesPerCaller - 1, now);
  const nodeId = uuidV7(now, runtime.randomBytes(10));
  store.insert({
    nodeId,
    caller,
    content,
    contentHash,
    sensitivity,
    memoryType: type,
    ...createInitialDecay(now),
    createdAt: now,
    embedder: embedder.id,
    embedding,
  });
  return { ok: true, nodeId };
}

function rankCandidates(candidates: readonly Candidate[], queryVector: Float32Array, now: number) {
  return candidates
    .map((candidate) => ({
      candidate,
      similarity: calculateCosine(queryVector, candidate.embedding),
    }))
    .filter(({ similarity }) => similarity > 0)
    .map((found) => ({
      ...found,
      score: found.similarity * calculateConfidence(found.candidate, now),
    }))
    .toSorted((a, b) => b.score - a.score || b.candidate.createdAt - a.candidate.createdAt);
}

function toRecallItem(memory: StoredMemory, now: number): Omit<RecallItem, "similarity"> {
  return {
    content: memory.content,
    confidence: calculateConfidence(memory, now),
    half_life_days: memory.halfLifeDays,
    memory_type: memory.memoryType,
    created_at: memory.createdAt,
  };
}

/** Returns the first items that fit into one answer. */
function limitToRecalledBytes<T>(items: readonly T[]): T[] {
  let left: number = memoryLimits.recalledBytes;
  return items.filter((item) => {
    left -= Buffer.byteLength(JSON.stringify(item));
    return left >= 0;
  });
}

const sensitivityRefusal: MemoryRefusal = {
  ok: false,
  code: "memory.sensitivity_refused",
  detail: 'The sensitivity must be "none" or "personal"',
};

const tooLargeRefusal: MemoryRefusal = {
  ok: false,
  code: "memory.too_large",
  detail: `The content must be at most ${memoryLimits.contentBytes} bytes of UTF-8`,
};
