import { randomUUID } from "node:crypto";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { createSharedPendingPeers } from "../federation/peering/pending-peer-store.ts";
import { createSharedCodeTracker } from "../pairing/failed-code-tracker.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import type { Storage } from "../storage/storage.ts";
import { createSharedOnce } from "./seen-once.ts";
import { takeNextTime } from "./seen-store.ts";

describe.runIf(onlyOn("postgres"))("events that two processes count together", () => {
  let both: readonly [Storage, Storage];
  beforeEach(async () => {
    const url = await openDatabaseOf(randomUUID());
    const open = async () => {
      const opened = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
      if (!opened.ok) throw new Error(opened.detail);
      return opened.storage;
    };
    both = [await open(), await open()];
  });
  afterEach(() => Promise.all(both.map((storage) => storage.close())));

  test("a signature is accepted by only one of two processes until its lifetime has passed", async () => {
    const sets = both.map((storage) =>
      createSharedOnce(storage, { kind: "signature", lifetimeMs: 100 }),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, turn) => sets[turn % 2]?.add("signed", 1_000)),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await sets[1]?.add("other", 1_000)).toBe(true);
    expect(await sets[1]?.add("signed", 1_099)).toBe(false);
    expect(await sets[0]?.add("signed", 1_100)).toBe(true);
  });

  test("wrong pairing codes at two processes count together", async () => {
    let now = 1_000;
    const trackers = both.map((storage) => createSharedCodeTracker(storage, () => now, 60_000));
    await Promise.all(
      Array.from({ length: limits.pairingAttempts }, async (_, turn) =>
        trackers[turn % 2]?.recordFailure("192.0.2.1"),
      ),
    );
    for (const tracker of trackers) {
      expect(await tracker.getWaitMs("192.0.2.1")).toBe(60_000);
      expect(await tracker.getWaitMs("192.0.2.2")).toBe(0);
    }
    now += 60_000;
    for (const tracker of trackers) expect(await tracker.getWaitMs("192.0.2.1")).toBe(0);
  });

  test("E11: wrong pairing codes at two processes count together in each network of a client", async () => {
    const [one, other] = both.map((storage) =>
      createSharedCodeTracker(storage, () => 1_000, 60_000),
    );
    for (let host = 1; host <= 4; host += 1) {
      for (let turn = 0; turn < limits.pairingAttempts; turn += 1) {
        await (turn % 2 === 0 ? one : other)?.recordFailure(`2001:db8:1:20${host}::1`);
      }
    }
    expect(await one?.getWaitMs("2001:db8:1:205::1")).toBe(60_000);
    expect(await other?.getWaitMs("2001:db8:1:301::1")).toBe(0);
  });

  test("a proposal to one process can be confirmed once at another one, and old proposals make room", async () => {
    const [one, other] = both.map(createSharedPendingPeers);
    const propose = (relayId: string, proposedAt: number) =>
      one?.add({ peer: { relayId }, nonceB: "n", proposedAt } as never, proposedAt);
    await propose("peer", 1_000);
    expect(await other?.find("peer")).toMatchObject({ peer: { relayId: "peer" } });
    const taken = await Promise.all([other?.take("peer"), one?.take("peer")]);
    expect(taken.filter((pending) => pending !== undefined)).toHaveLength(1);
    for (let added = 0; added <= limits.federationProposals; added += 1) {
      await propose(`peer-${added}`, 2_000 + added);
    }
    expect(await other?.list()).toHaveLength(limits.federationProposals);
    expect(await other?.find("peer-0")).toBeUndefined();
  });

  test("the times of notices increase at two processes, even if one clock is behind", async () => {
    const notice = { kind: "notice", key: "" };
    const times = [
      await takeNextTime(both[0], { ...notice, now: 5_000 }),
      await takeNextTime(both[1], { ...notice, now: 4_000 }),
      await takeNextTime(both[0], { ...notice, now: 5_000 }),
      await takeNextTime(both[1], { ...notice, now: 9_000 }),
    ];
    expect(times).toEqual([5_000, 5_001, 5_002, 9_000]);
  });
});
