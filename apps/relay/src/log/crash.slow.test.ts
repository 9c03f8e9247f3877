import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bytesToHex } from "@agent/crypto";
import { computeRoot, hashTag, parseCheckpoint, parseLogEntry } from "@agent/transparency";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { readBesideRelay } from "../../test/engine/stored.ts";
import { createLoadAgents, requestJson, runLoad } from "../../test/load.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";
import { listEntriesAfter } from "./entries/entry-store.ts";
import { findEntries, getArtifactHash } from "./entries/find-entries.ts";
import { readTile } from "./heads/read-tile.ts";

/** `pnpm test:crashes` kills the relay 50 times. */
const CRASHES = Number(process.env["AGENT_TEST_CRASHES"] ?? 2);
const RECEIPTS_PER_ROUND = 60;

vi.setConfig({ testTimeout: 60_000 + 30_000 * CRASHES });

const folder = mkdtempSync(join(tmpdir(), "relay-log-crash-"));
const path = join(folder, "relay.db");
const env = { ...minimalEnv, AGENT_DB_PATH: path, AGENT_LOG_INTERVAL_MS: "50" };
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

/** Collects the roots of all heads that a relay serves until it ends, by their size. */
async function collectHeads(baseUrl: string, roots: Map<number, string>): Promise<void> {
  for (;;) {
    const text = await fetch(`${baseUrl}/log/v1/latest`).then(
      (answer) => answer.text(),
      () => undefined,
    );
    if (text === undefined) return;
    const parsed = parseCheckpoint(text);
    if (parsed.ok) {
      const { size, root } = parsed.head;
      const known = roots.get(size) ?? bytesToHex(root);
      if (bytesToHex(root) !== known) throw new Error(`two heads have the size ${size}`);
      roots.set(size, known);
    }
    await sleep(20);
  }
}

async function isIntegrated(baseUrl: string): Promise<boolean> {
  const { body } = await requestJson(`${baseUrl}/api/v1/admin/log`, OPERATOR_TOKEN);
  return body["lag"] === 0;
}

test("TL4 every head that was served fits the log after kill -9 under load, and no settlement is missing", async () => {
  const roots = new Map<number, string>();
  let relay = startRelay(env);
  const load = await createLoadAgents(await relay.baseUrl);
  for (let round = 1; round <= CRASHES; round += 1) {
    const baseUrl = await relay.baseUrl;
    const driven = runLoad(baseUrl, load, () => false);
    const collected = collectHeads(baseUrl, roots);
    const enough = load.acknowledged.receipts.size + RECEIPTS_PER_ROUND;
    await vi.waitFor(() => expect(load.acknowledged.receipts.size).toBeGreaterThan(enough), {
      timeout: 40_000,
      interval: 5,
    });
    relay.kill("SIGKILL");
    await relay.ended;
    await Promise.all([driven, collected]);
    relay = startRelay(env);
    await relay.baseUrl;
  }
  const lastUrl = await relay.baseUrl;
  await vi.waitUntil(() => isIntegrated(lastUrl), { timeout: 20_000 });
  relay.kill("SIGTERM");
  await relay.ended;
  expect(roots.size).toBeGreaterThan(2);

  const entries = await readBesideRelay(path, async (read) => {
    for (const [size, root] of roots) {
      const computed = await computeRoot(size, (level, n, width) =>
        readTile(read, level, n, width),
      );
      expect(bytesToHex(computed)).toBe(root);
    }
    const stored = await listEntriesAfter(read, { after: 0, limit: 100_000 });
    for (const [at, entry] of stored.entries()) {
      const found = await findEntries(read, getArtifactHash(entry)!);
      expect(found.map(({ index }) => index)).toContain(at);
    }
    return stored;
  });
  const settled = new Set<string>();
  for (const entry of entries) {
    const parsed = parseLogEntry(entry);
    if (parsed.ok && parsed.entry.kind === "settlement") settled.add(parsed.entry.refTag);
  }
  for (const taskId of load.acknowledged.receipts.keys()) {
    expect(settled).toContain(bytesToHex(hashTag("ref", taskId)));
  }
});
