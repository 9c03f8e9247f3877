import { bytesToHex, concatBytes, isJsonObject, parseJsonText } from "@agent/crypto";
import {
  formatTilePath,
  hashLeaf,
  type LogEntry,
  openCheckpoint,
  openLogStatement,
  parseEntryBundle,
  parseLogEntry,
  parseNote,
  proveInclusion,
  type ReadTile,
  TILE_WIDTH,
  type TreeHead,
  type VerifierKey,
  verifyInclusion,
} from "@agent/transparency";
import { fetchBytes } from "./fetch-bytes.ts";

/** A checked head, and the names of the witnesses that cosigned it. */
export interface ShownHead {
  readonly size: number;
  readonly root: string;
  readonly witnesses: readonly string[];
}

/** The parts of a log that the page shows once they were checked in the browser. */
export interface ShownLog {
  readonly logKey: VerifierKey;
  readonly vkey: string;
  readonly latest: ShownHead | null;
  readonly published: ShownHead | null;
  /** The newest entries, newest first. */
  readonly entries: readonly { readonly index: number; readonly entry: LogEntry }[];
}

export type ReadLogResult =
  | { readonly ok: true; readonly log: ShownLog }
  | { readonly ok: false; readonly reason: string };

const NEWEST = 20;
const HASH_BYTES = 32;

/** A contradiction in the relay's data, after which nothing of its log is shown. */
class LogFault extends Error {
  override name = "LogFault";
}

/** Reads the log of the relay that serves the page and checks it with the key that the relay states. */
export async function readLog(): Promise<ReadLogResult> {
  try {
    const stated = await readStatement();
    if (stated === null) return { ok: false, reason: "This relay has no log." };
    const { logKey, vkey } = stated;
    const latest = await readHead("log/v1/latest", logKey);
    const published = await readHead("log/v1/checkpoint", logKey);
    const entries = latest === null ? [] : await readNewest(latest.head);
    return {
      ok: true,
      log: { logKey, vkey, latest: show(latest), published: show(published), entries },
    };
  } catch (error) {
    if (error instanceof LogFault) return { ok: false, reason: error.message };
    return { ok: false, reason: "The log could not be read." };
  }
}

/** Reads a path; undefined only if the relay answers 404, because other failures say nothing about the log. */
async function read(path: string): Promise<Uint8Array | undefined> {
  const { status, bytes } = await fetchBytes(path);
  if (bytes === undefined && status !== 404) throw new Error(`status ${status}`);
  return bytes;
}

async function readStatement() {
  const bytes = await read(".well-known/agent-relay.json");
  const document = parseJsonText(new TextDecoder().decode(bytes))?.value;
  if (!isJsonObject(document)) throw new LogFault("The identity of the relay is malformed.");
  const { relay_id, public_key, log } = document;
  const by = { relayId: String(relay_id), publicKey: String(public_key) };
  const opened = openLogStatement(log, by);
  if (!opened.ok) throw new LogFault(`The statement about the log is refused: ${opened.code}`);
  if (opened.log === null) return null;
  return { logKey: opened.log.key, vkey: String((log as { vkey: unknown }).vkey) };
}

async function readHead(path: string, logKey: VerifierKey) {
  const bytes = await read(path);
  if (bytes === undefined) return null;
  const opened = openCheckpoint(bytes, { logKey });
  if (!opened.ok) throw new LogFault(`A head of the log is refused: ${opened.code}`);
  const note = parseNote(bytes);
  const names = note.ok ? note.note.signatures.map(({ name }) => name) : [];
  return { head: opened.head, witnesses: names.filter((name) => name !== logKey.name) };
}

function show(read: Awaited<ReturnType<typeof readHead>>): ShownHead | null {
  if (read === null) return null;
  const { head, witnesses } = read;
  return { size: head.size, root: bytesToHex(head.root), witnesses };
}

/** Reads the newest entries; each bundle is shown only if its hashes lead to the signed root. */
async function readNewest(head: TreeHead): Promise<ShownLog["entries"]> {
  const first = Math.max(0, head.size - NEWEST);
  const shown: { index: number; entry: LogEntry }[] = [];
  for (let tile = Math.floor(first / TILE_WIDTH); tile * TILE_WIDTH < head.size; tile++) {
    const entries = await readBundle(tile, head);
    for (const [at, bytes] of entries.entries()) {
      const parsed = parseLogEntry(bytes);
      const index = tile * TILE_WIDTH + at;
      if (parsed.ok && index >= first) shown.unshift({ index, entry: parsed.entry });
    }
  }
  return shown;
}

async function readBundle(tile: number, { size, root }: TreeHead): Promise<readonly Uint8Array[]> {
  const width = Math.min(TILE_WIDTH, size - tile * TILE_WIDTH);
  const bytes = await read(`log/v1/${formatTilePath("entries", tile, width)}`);
  const bundle = parseEntryBundle(bytes ?? new Uint8Array(), width);
  if (!bundle.ok) throw new LogFault("The log lacks entries that its head covers.");
  const hashes = concatBytes(...bundle.entries.map(hashLeaf));
  const readTile: ReadTile = (level, index, count) =>
    level === 0 && index === tile ? hashes : fetchTile(level, index, count);
  const index = tile * TILE_WIDTH;
  const proof = await proveInclusion(index, size, readTile);
  const leaf = hashes.slice(0, HASH_BYTES);
  if (!verifyInclusion({ index, size, leaf, proof, root }).ok) {
    throw new LogFault("The entries of the log do not match its signed head.");
  }
  return bundle.entries;
}

async function fetchTile(level: number, index: number, width: number): Promise<Uint8Array> {
  const bytes = await read(`log/v1/${formatTilePath(level, index, width)}`);
  if (bytes?.length !== width * HASH_BYTES) throw new LogFault("A tile of the log is missing.");
  return bytes;
}
