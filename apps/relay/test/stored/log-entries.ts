import { canonicalize, sha256Hex } from "@agent/crypto";
import {
  formatTilePath,
  hashTag,
  parseCheckpoint,
  parseEntryBundle,
  parseLogEntry,
  TILE_WIDTH,
  type LogEntry,
} from "@agent/transparency";
import type { TestRelay } from "../test-relay.ts";

/** Reads every entry of a relay's log as any reader can, after a head covers all of them. */
export async function readLogEntries({ relay }: Pick<TestRelay, "relay">): Promise<LogEntry[]> {
  await relay.transparencyLog.integrate();
  const get = (path: string) => relay.fetch(new Request(`http://relay.test/log/v1/${path}`));
  const parsed = parseCheckpoint(await (await get("latest")).text());
  const size = parsed.ok ? parsed.head.size : 0;
  const entries: LogEntry[] = [];
  for (let first = 0; first < size; first += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - first);
    const answer = await get(formatTilePath("entries", first / TILE_WIDTH, width));
    const bundle = parseEntryBundle(new Uint8Array(await answer.arrayBuffer()), width);
    if (!bundle.ok) throw new Error(bundle.code);
    entries.push(...bundle.entries.map(parseEntry));
  }
  return entries;
}

function parseEntry(bytes: Uint8Array): LogEntry {
  const parsed = parseLogEntry(bytes);
  if (!parsed.ok) throw new Error(parsed.code);
  return parsed.entry;
}

export const NO_TAG = "0".repeat(32);

/** Returns the tag of an agent's key or id, as an entry contains it. */
export const tagOf = (type: "agent" | "key" | "ref", value: string) =>
  Buffer.from(hashTag(type, value)).toString("hex");

/** Returns the hash of an artifact. */
export const artifactHashOf = (artifact: object) => sha256Hex(canonicalize(artifact));

/** Returns the hash of an artifact without its signature. */
export function unsignedHashOf(artifact: { readonly signature?: unknown }): string {
  const { signature: _, ...body } = artifact;
  return artifactHashOf(body);
}
