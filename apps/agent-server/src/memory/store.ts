import type { Database } from "better-sqlite3";
import type { Fading } from "./fading.ts";
import type { Sensitivity } from "./sensitivity.ts";

export type MemoryType = "semantic" | "episodic";

export interface StoredMemory extends Fading {
  readonly nodeId: string;
  /** Whose it is: the key of the caller that it was formed with. */
  readonly caller: string;
  readonly content: string;
  readonly contentHash: string;
  readonly sensitivity: Sensitivity;
  readonly memoryType: MemoryType;
  readonly createdAt: number;
  /** The embedder that made `embedding`. */
  readonly embedder: string;
  readonly embedding: Float32Array;
}

/** As much of a memory as it takes to rank it; a caller may have thousands. */
export type Candidate = Pick<StoredMemory, "nodeId" | "createdAt" | "embedding" | keyof Fading>;

interface Bytes {
  readonly embedding: Uint8Array;
}
type Row = Omit<StoredMemory, "embedding"> & Bytes;
type CandidateRow = Omit<Candidate, "embedding"> & Bytes;

export interface MemoryStore {
  insert(memory: StoredMemory): void;
  /** Content and id of what other embedders have left, at most `limit`. */
  foreign(caller: string, embedder: string, limit: number): { nodeId: string; content: string }[];
  embed(nodeId: string, embedder: string, embedding: Float32Array): void;
  /** All that may be told to this caller: its own, of sensitivity `none`. */
  tellable(caller: string, embedder: string): Candidate[];
  byId(nodeId: string): StoredMemory | undefined;
  /** The same whatever its embedder, newest first, at most `limit`. */
  newest(caller: string, limit: number): StoredMemory[];
  byContent(caller: string, contentHash: string): StoredMemory | undefined;
  reinforce(nodeId: string, fading: Fading): void;
  classify(nodeId: string, sensitivity: Sensitivity): void;
  /** Deletes what has faded most until the caller has at most `kept`. */
  forget(caller: string, kept: number, now: number): void;
  count(): number;
  /** Runs all of `work` or nothing. */
  atomically<T>(work: () => T): T;
  close(): void;
}

const columns = `node_id AS nodeId, caller, content, content_hash AS contentHash, sensitivity,
  memory_type AS memoryType, confidence, half_life_days AS halfLifeDays, created_at AS createdAt,
  reinforced_at AS reinforcedAt, embedder, embedding`;

export function createMemoryStore(db: Database): MemoryStore {
  const insert = db.prepare<[Row]>(`INSERT INTO memories
    VALUES (:nodeId, :caller, :content, :contentHash, :sensitivity, :memoryType, :confidence,
      :halfLifeDays, :createdAt, :reinforcedAt, :embedder, :embedding)`);
  const foreign = db.prepare<[string, string, number], { nodeId: string; content: string }>(
    `SELECT node_id AS nodeId, content FROM memories WHERE caller = ? AND embedder <> ? LIMIT ?`,
  );
  const embed = db.prepare("UPDATE memories SET embedder = ?, embedding = ? WHERE node_id = ?");
  const tellable = db.prepare<[string, string], CandidateRow>(`SELECT node_id AS nodeId, confidence,
    half_life_days AS halfLifeDays, reinforced_at AS reinforcedAt, created_at AS createdAt, embedding
    FROM memories WHERE caller = ? AND embedder = ? AND sensitivity = 'none'`);
  const newest = db.prepare<[string, number], Row>(`SELECT ${columns} FROM memories
    WHERE caller = ? AND sensitivity = 'none' ORDER BY created_at DESC, node_id DESC LIMIT ?`);
  const byId = db.prepare<[string], Row>(`SELECT ${columns} FROM memories WHERE node_id = ?`);
  const byContent = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM memories WHERE caller = ? AND content_hash = ?`,
  );
  const reinforce = db.prepare(`UPDATE memories
    SET confidence = ?, half_life_days = ?, reinforced_at = ? WHERE node_id = ?`);
  const classify = db.prepare("UPDATE memories SET sensitivity = ? WHERE node_id = ?");
  const forget = db.prepare(`DELETE FROM memories WHERE node_id IN (
    SELECT node_id FROM memories WHERE caller = :caller
    ORDER BY confidence * pow(0.5, (:now - reinforced_at) / 86400000.0 / half_life_days) DESC,
      node_id DESC
    LIMIT -1 OFFSET :kept)`);
  const ofCaller = db
    .prepare<[string], number>("SELECT count(*) FROM memories WHERE caller = ?")
    .pluck();
  const count = db.prepare<[], number>("SELECT count(*) FROM memories").pluck();

  return {
    insert(memory) {
      insert.run({ ...memory, embedding: bytesOf(memory.embedding) });
    },
    foreign: (caller, embedder, limit) => foreign.all(caller, embedder, limit),
    embed(nodeId, embedder, embedding) {
      embed.run(embedder, bytesOf(embedding), nodeId);
    },
    tellable: (caller, embedder) => tellable.all(caller, embedder).map(fromRow),
    newest: (caller, limit) => newest.all(caller, limit).map(fromRow),
    byId(nodeId) {
      const row = byId.get(nodeId);
      return row && fromRow(row);
    },
    byContent(caller, contentHash) {
      const row = byContent.get(caller, contentHash);
      return row && fromRow(row);
    },
    reinforce(nodeId, { confidence, halfLifeDays, reinforcedAt }) {
      reinforce.run(confidence, halfLifeDays, reinforcedAt, nodeId);
    },
    classify(nodeId, sensitivity) {
      classify.run(sensitivity, nodeId);
    },
    forget(caller, kept, now) {
      if ((ofCaller.get(caller) ?? 0) > kept) forget.run({ caller, kept, now });
    },
    count: () => count.get() ?? 0,
    atomically: (work) => db.transaction(work)(),
    close() {
      db.close();
    },
  };
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function fromRow<T extends Bytes>(row: T): Omit<T, "embedding"> & { embedding: Float32Array } {
  return { ...row, embedding: vectorOf(row.embedding) };
}

/** A view where the bytes begin where a float may, else a copy. */
function vectorOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } =
    bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  return new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
}
