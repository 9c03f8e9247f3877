import { formatEntryBundle } from "./entries/entry-bundle.ts";
import type { TreeHead } from "./notes/checkpoint.ts";
import { cosignHead, type WitnessSigner } from "./notes/cosignature.ts";
import { deriveLogKeys, type LogKeys } from "./notes/derive-log-keys.ts";
import { signCheckpoint } from "./notes/sign-checkpoint.ts";
import { hashLeaf } from "./tree/hash.ts";
import { proveInclusion, type ReadTile } from "./tree/prove.ts";
import { parseTilePath } from "./tree/tile-path.ts";
import { TreeEdge } from "./tree/tree-edge.ts";

/** A whole transparency log in memory, for tests and examples; its keys are derived from a number. */
export class ModelLog {
  readonly keys: LogKeys;
  readonly #entries: Uint8Array[] = [];
  readonly #edge = new TreeEdge();
  readonly #tiles = new Map<string, Uint8Array>();

  constructor(seed: number, { origin = "log.example" }: { readonly origin?: string } = {}) {
    this.keys = deriveLogKeys(new Uint8Array(32).fill(seed), { origin });
  }

  get size(): number {
    return this.#edge.size;
  }

  /** Appends an entry and returns its index. */
  append(entry: Uint8Array): number {
    this.#entries.push(entry);
    for (const { level, index, hashes } of this.#edge.append(hashLeaf(entry))) {
      this.#tiles.set(`${level}/${index}`, hashes);
    }
    return this.#edge.size - 1;
  }

  /** Returns the signed checkpoint of a size, cosigned by witnesses at a time in POSIX seconds. */
  sign(witnesses: readonly WitnessSigner[] = [], size = this.size, time = 1_790_000_000): string {
    const head = this.#getHead(size);
    const lines = witnesses.map((witness) => cosignHead(head, witness, time));
    return signCheckpoint(head, this.keys.secretKey) + lines.join("");
  }

  prove(index: number, size = this.size): Promise<Uint8Array[]> {
    return proveInclusion(index, size, this.readTile);
  }

  readonly readTile: ReadTile = (level, index, width) =>
    (this.#tiles.get(`${level}/${index}`) ?? this.#edge.getPartialTile(level)).slice(0, width * 32);

  /** Returns the bytes of a tile or of an entry bundle; undefined for any other path. */
  readPath(path: string): Uint8Array | undefined {
    const parsed = parseTilePath(path);
    if (!parsed.ok) return undefined;
    const { level, index, width } = parsed;
    if (level !== "entries") return this.readTile(level, index, width) as Uint8Array;
    const entries = this.#entries.slice(index * 256, index * 256 + width);
    return entries.length === width ? formatEntryBundle(entries) : undefined;
  }

  #getHead(size: number): TreeHead {
    const edge = size === this.size ? this.#edge : new TreeEdge();
    for (const entry of this.#entries.slice(edge.size, size)) edge.append(hashLeaf(entry));
    return { origin: this.keys.origin, size, root: edge.root() };
  }
}
