import { randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../../test/engine/database-of-path.ts";
import { startNetworkProxy } from "../../test/cluster/network-proxy.ts";
import { getServer, onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import { packHints } from "../storage/postgres/hint-channel.ts";
import type { Storage } from "../storage/storage.ts";
import { findLookStart, listChanges } from "./changes-store.ts";

const KILL_LISTENERS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agent-relay-hints'" +
  " AND datname = current_database()";

describe.runIf(onlyOn("postgres"))("hints between processes on one database", () => {
  let url: string;
  const opened: Storage[] = [];
  beforeEach(async () => {
    url = await openDatabaseOf(randomUUID());
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  /** Opens the database as one of several processes, and collects the hints that it receives. */
  async function join(listenUrl: string | undefined = url) {
    const result = await openStorage({
      url,
      listenUrl,
      migrations,
      poolSize: 2,
      shared: systemRuntime,
    });
    if (!result.ok) throw new Error(result.detail);
    const { storage } = result;
    opened.push(storage);
    const heard: string[] = [];
    storage.hints.listen({
      onChanges: () => heard.push("changes"),
      onTask: (taskId) => heard.push(taskId),
    });
    return { storage, heard };
  }

  async function joinBoth() {
    const both = [await join(), await join()] as const;
    for (const { storage } of both) await openHints(storage);
    return both;
  }

  async function openHints({ hints }: Storage): Promise<void> {
    hints.keepOpen(true);
    await expect.poll(() => hints.isMissing()).toBe(false);
  }

  test("only the other process receives a hint about a committed change or a changed task", async () => {
    const [a, b] = await joinBoth();
    await a.storage.transaction(async (tx) => tx.noteChange("tokens", "agent"));
    await expect.poll(() => b.heard).toEqual(["changes"]);
    a.storage.hints.sendTask("task-1");
    await expect.poll(() => b.heard).toEqual(["changes", "task-1"]);
    b.storage.hints.sendTask("task-2");
    await expect.poll(() => a.heard).toEqual(["task-2"]);
  });

  test("a change of a key with U+0000 is read exactly as it was written", async () => {
    const [a, b] = await joinBoth();
    const { since } = await findLookStart(b.storage.read);
    await a.storage.transaction(async (tx) => tx.noteChange("tokens", "a\0b"));
    const { origin, read } = b.storage;
    const { changes } = await listChanges(read, { since, origin });
    expect(changes).toMatchObject([{ kind: "tokens", key: "a\0b" }]);
  });

  test("a change of facts for rankings causes no hint, because those may be a second old", async () => {
    const [a, b] = await joinBoth();
    await a.storage.transaction(async (tx) => tx.noteChange("agents", "agent"));
    a.storage.hints.sendTask("later");
    await expect.poll(() => b.heard).toEqual(["later"]);
  });

  test("the next round reopens a connection that was ended", async () => {
    const [a, b] = await joinBoth();
    await runStatement(url, KILL_LISTENERS);
    await expect.poll(() => b.storage.hints.isMissing()).toBe(true);
    for (const { storage } of [a, b]) await openHints(storage);
    a.storage.hints.sendTask("later");
    await expect.poll(() => b.heard).toEqual(["later"]);
  });

  test("a connection that has gone silent is replaced, although its end was never reported", async () => {
    const network = await startNetworkProxy(getServer().serverUrl);
    const [a, b] = [await join(), await join(network.toUrl(url))];
    for (const { storage } of [a, b]) await openHints(storage);
    network.silence("toServer", "toClient");
    const isMissing = () => {
      // Each round of a process checks the channel, once a second.
      b.storage.hints.keepOpen(true);
      return b.storage.hints.isMissing();
    };
    await expect.poll(isMissing, { timeout: 30_000, interval: 1_000 }).toBe(true);
    network.abandonConnections();
    await expect.poll(isMissing, { timeout: 30_000, interval: 1_000 }).toBe(false);
    a.storage.hints.sendTask("later");
    await expect.poll(() => b.heard).toEqual(["later"]);
    await b.storage.close();
    await network.close();
  });

  test("a process that is alone, or has no address to listen at, opens no connection", async () => {
    const alone = await join();
    alone.storage.hints.keepOpen(false);
    const off = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!off.ok) throw new Error(off.detail);
    opened.push(off.storage);
    off.storage.hints.keepOpen(true);
    expect(alone.storage.hints.isMissing()).toBe(false);
    expect(off.storage.hints.isMissing()).toBe(true);
    const listening = KILL_LISTENERS.replace("pg_terminate_backend(pid)", "1");
    expect(await runStatement(url, listening)).toEqual([]);
  });
});

test("hints are packed into messages that are short enough for the server", () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => `${at}`.padStart(36, "0"));
  const messages = packHints("origin", ids);
  expect(messages.every((message) => message.length < 8_000)).toBe(true);
  expect(messages.flatMap((message) => message.split(" ").slice(1))).toEqual(ids);
  expect(packHints("origin", [])).toEqual([]);
});
