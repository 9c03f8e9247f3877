import { statSync } from "node:fs";
import { computeRoot, entryOf, verifyEntryInclusion } from "@agent/transparency";
import { readConfig } from "../../src/config/read-config.ts";
import { appendLog } from "../../src/log/entries/append.ts";
import { listEntriesAfter } from "../../src/log/entries/entry-store.ts";
import { findEntries, getArtifactHash } from "../../src/log/entries/find-entries.ts";
import { readTile } from "../../src/log/heads/read-tile.ts";
import { proveEntry } from "../../src/log/prove.ts";
import { createLog } from "../../src/observability/log.ts";
import { openRelay } from "../../src/open-relay.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { systemRuntime as runtime } from "./system-runtime.ts";

/**
 * Fills the log of a relay in the file AGENT_DB_PATH with a million entries, in a separate process that `pnpm
 * bench log` starts, and prints the processor time of each step as one line of JSON.
 */

const ENTRIES = 1_000_000;
const ROUNDS = 10;
const PER_TRANSACTION = 1_000;
const NEWEST = 10_000;
const SAMPLES = 501;
const path = process.env["AGENT_DB_PATH"] ?? "";

const now = Date.now();
let count = 0;

/** Returns the processor time, which does not depend on other load on the machine. */
function getCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function buildEntry(): Uint8Array {
  count += 1;
  return entryOf.settlement({ task_id: `task ${count}`, payee_id: "payee" }, { time: now });
}

async function appendAll(storage: Storage, total: number): Promise<number[]> {
  const micros: number[] = [];
  for (let done = 0; done < total; done += PER_TRANSACTION) {
    const entries = Array.from({ length: PER_TRANSACTION }, buildEntry);
    await storage.transaction(async (tx) => {
      const began = getCpuUs();
      for (const entry of entries) await appendLog(tx, () => entry);
      micros.push((getCpuUs() - began) / PER_TRANSACTION);
    });
  }
  return micros;
}

async function measureProofs(storage: Storage) {
  const { read } = storage;
  const root = await computeRoot(ENTRIES, (level, n, width) => readTile(read, level, n, width));
  const proveMs: number[] = [];
  const verifyUs: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const index = ENTRIES - 1 - Math.floor((sample * NEWEST) / SAMPLES);
    const [entry] = await listEntriesAfter(read, { after: index, limit: 1 });
    const hash = entry === undefined ? undefined : getArtifactHash(entry);
    if (entry === undefined || hash === undefined) throw new Error("an entry is missing");
    const began = getCpuUs();
    const [found] = await findEntries(read, hash);
    if (found?.index !== index) throw new Error("an entry is not found");
    const proof = await proveEntry(read, found, ENTRIES);
    const proven = getCpuUs();
    const verdict = verifyEntryInclusion({ index, size: ENTRIES, root, proof, entry });
    verifyUs.push(getCpuUs() - proven);
    proveMs.push((proven - began) / 1_000);
    if (!verdict.ok) throw new Error(verdict.code);
  }
  return { proveMs, verifyUs };
}

const opened = await openStorage({ path, migrations });
if (!opened.ok) throw new Error(opened.detail);
const read = readConfig(process.env);
if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join("; "));
const ignore = () => {};
const log = createLog({ level: "error", write: { stdout: ignore, stderr: ignore }, now: Date.now });
const relay = await openRelay(read.config, runtime, log, () => Promise.resolve(opened));
if (!relay.ok) throw new Error(relay.detail);

const emptyBytes = statSync(path).size;
const appendUs: number[] = [];
const integrateUs: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  appendUs.push(...(await appendAll(opened.storage, ENTRIES / ROUNDS)));
  const began = getCpuUs();
  await relay.transparencyLog.integrate();
  integrateUs.push((getCpuUs() - began) / (ENTRIES / ROUNDS));
}
const proofs = await measureProofs(opened.storage);
await relay.close();
const bytes = statSync(path).size - emptyBytes;
process.stdout.write(`${JSON.stringify({ appendUs, integrateUs, ...proofs, bytes })}\n`);
