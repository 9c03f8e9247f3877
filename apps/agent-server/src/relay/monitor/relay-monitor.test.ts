import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesToHex, getPublicKey, publicKeyToDidKey } from "@agent/crypto";
import {
  createManualClock,
  startLoopbackServer,
  type LoopbackServer,
  type ManualClock,
} from "@agent/testkit";
import { entryOf, signLogStatement } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import type { Membership } from "../membership/join-relay.ts";
import { createRelayMonitor, type RelayMonitor } from "./relay-monitor.ts";

const HOUR_MS = 3_600_000;
const relayId = "relay-1";
const seed = new Uint8Array(32).fill(7);
const publicKey = bytesToHex(getPublicKey(seed));
const identity = createTestIdentity();
const stranger = "b".repeat(64);

/** The answers of the relay; a test changes them to let the relay lie. */
interface Site {
  log: ModelLog;
  statement: unknown;
  document: Record<string, unknown>;
}

let site: Site;
let server: LoopbackServer;
let folder: string;
let clock: ManualClock;
let monitor: RelayMonitor;
let rounds: PromiseWithResolvers<void>;
let logged: Record<string, unknown>[];

const stateOf = (log: ModelLog, secretKey = seed) =>
  signLogStatement(
    relayId,
    { log: { key: log.keys.logKey, prefix: "http://127.0.0.1:1/elsewhere" }, witness: null },
    secretKey,
  );

function fill(log: ModelLog, size: number, first = "task"): ModelLog {
  while (log.size < size) {
    const record = { task_id: `${first} ${log.size}`, payee_id: "other" };
    log.append(entryOf.settlement(record, { time: 1 }));
  }
  return log;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relay-monitor-"));
  clock = createManualClock();
  logged = [];
  const log = fill(new ModelLog(1), 3);
  const did = publicKeyToDidKey(getPublicKey(seed));
  site = {
    log,
    statement: stateOf(log),
    document: { relay_id: relayId, public_key: publicKey, did },
  };
  server = await startLoopbackServer(({ url = "" }, response) => {
    const path = url.replace("/log/v1/", "");
    const answer =
      url === "/.well-known/agent-relay.json"
        ? JSON.stringify({ ...site.document, log: site.statement })
        : path === "checkpoint" || path === "latest"
          ? site.log.sign()
          : site.log.readPath(path);
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  monitor = startMonitor();
});
afterEach(async () => {
  await monitor.stop();
  await server.close();
  await rm(folder, { recursive: true });
});

function startMonitor(intervalMs = HOUR_MS): RelayMonitor {
  rounds = Promise.withResolvers();
  const membership = { relay: { relayId, publicKey } } as Membership;
  const created = createRelayMonitor({
    url: server.url,
    identity,
    membership: () => membership,
    receiptHashes: { hashes: new Set() },
    folder: join(folder, "monitor"),
    intervalMs,
    runtime: {
      ...createSystemRuntime((level, event, fields) => logged.push({ level, event, ...fields })),
      now: clock.now,
      // A round has ended when the next one is planned.
      schedule(ms, task) {
        if (ms === intervalMs) rounds.resolve();
        return clock.schedule(ms, task);
      },
    },
  });
  created.start();
  return created;
}

/** Waits for the end of the round that runs, and returns what it logged. */
async function takeRound() {
  await rounds.promise;
  rounds = Promise.withResolvers();
  return logged.splice(0);
}

async function nextRound() {
  await clock.advance(HOUR_MS);
  return takeRound();
}

const restart = async () => {
  await monitor.stop();
  monitor = startMonitor();
};

describe("the monitor of a relay's log", () => {
  test("the monitor reads the log at the address by which the relay was joined, and reports no entries of others", async () => {
    expect(await takeRound()).toMatchObject([{ level: "debug", event: "monitor.quiet", size: 3 }]);
    fill(site.log, 300);
    expect(await nextRound()).toMatchObject([{ event: "monitor.quiet", size: 300 }]);
  });

  test("the monitor logs alarms at level error, a line for each code, and once", async () => {
    await takeRound();
    for (let count = 0; count < 30; count += 1) {
      const binding = { agent_id: identity.agentId, public_key: stranger, device_id: null };
      site.log.append(entryOf.keyBound({ ...binding, valid_from: count }, { time: 1 }));
    }
    const receipt = { agent_id: identity.agentId };
    site.log.append(entryOf.receipt(receipt, { time: 1, publicKey: stranger, ref: "t" }));
    const lines = await nextRound();
    expect(lines).toMatchObject([
      { level: "error", event: "monitor.unknown_key", count: 30 },
      { level: "error", event: "monitor.unknown_receipt", count: 1, indexes: [33] },
    ]);
    expect(lines[0]?.["indexes"]).toHaveLength(20);
    await restart();
    expect(await takeRound()).toMatchObject([{ event: "monitor.quiet" }]);
  });

  test("the monitor keeps both checkpoints of a log that contradicts itself, and continues to report it", async () => {
    await takeRound();
    site.log = fill(new ModelLog(1), 3, "another story");
    for (let round = 0; round < 2; round += 1) {
      expect(await nextRound()).toMatchObject([{ level: "error", event: "monitor.split_view" }]);
    }
    const files = await readdir(join(folder, "monitor"));
    const [name = ""] = files.filter((file) => file.endsWith(".evidence"));
    const lines = (await readFile(join(folder, "monitor", name), "utf8")).trim().split("\n");
    expect(lines).toHaveLength(2);
    const { evidence } = JSON.parse(lines[0]!) as { evidence: string[] };
    expect(evidence[1]).toBe(site.log.sign());
  });

  test("the monitor reports a relay that denies a log that it had, and not one that never had one", async () => {
    site.statement = undefined;
    await restart();
    await takeRound();
    expect(logged).toEqual([]);
    site.statement = stateOf(site.log);
    expect(await nextRound()).toMatchObject([{ event: "monitor.quiet" }]);
    site.statement = signLogStatement(relayId, { log: null, witness: null }, seed);
    expect(await nextRound()).toMatchObject([{ level: "error", event: "monitor.no_log" }]);
  });

  test("the monitor follows a later generation of the log, and no other key", async () => {
    await takeRound();
    site.log = fill(new ModelLog(1, { origin: "log.example/1790000000" }), 2);
    site.statement = stateOf(site.log);
    expect(await nextRound()).toMatchObject([
      { level: "warn", event: "monitor.new_generation", origin: "log.example/1790000000" },
      { event: "monitor.quiet", size: 2 },
    ]);
    for (const changed of [
      new ModelLog(9, { origin: "log.example/1790000000" }),
      new ModelLog(1, { origin: "log.example" }),
      new ModelLog(1, { origin: "another.example" }),
    ]) {
      site.statement = stateOf(changed);
      expect(await nextRound()).toMatchObject([{ level: "error", event: "log.key_changed" }]);
    }
  });

  test.each<[string, () => void, string]>([
    [
      "a statement under another key",
      () => (site.statement = stateOf(site.log, new Uint8Array(32).fill(9))),
      "log.signature_invalid",
    ],
    ["a statement in another form", () => (site.statement = "none"), "log.malformed"],
    [
      "a relay with another key",
      () => (site.document["public_key"] = stranger),
      "relay.identity_invalid",
    ],
    ["a relay with another id", () => (site.document["relay_id"] = "other"), "relay.key_changed"],
    ["a document of another form", () => (site.document["did"] = 7), "response.malformed"],
    [
      "an endless document",
      () => (site.document["name"] = "a".repeat(300_000)),
      "network.unreachable",
    ],
  ])("the monitor accepts no log from %s", async (_, lie, code) => {
    await takeRound();
    lie();
    expect(await nextRound()).toMatchObject([
      { level: "warn", event: "monitor.unreachable", code },
    ]);
  });

  test("the monitor does not begin anew when its state cannot be read, because that would hide a rollback", async () => {
    await takeRound();
    const [name = ""] = (await readdir(join(folder, "monitor"))).filter((file) =>
      file.endsWith(".json"),
    );
    await writeFile(join(folder, "monitor", name), "{}");
    expect(await nextRound()).toMatchObject([{ level: "error", event: "monitor.failed" }]);
  });

  test("the monitor runs no round while its interval is 0", async () => {
    await takeRound();
    await monitor.stop();
    monitor = startMonitor(0);
    await clock.advance(HOUR_MS);
    await monitor.stop();
    expect(logged).toEqual([]);
  });
});
