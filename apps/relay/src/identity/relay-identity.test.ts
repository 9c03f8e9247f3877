import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesToHex, didKeyToPublicKey } from "@agent/crypto";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../storage/migrations/index.ts";
import { readAllStored } from "../../test/engine/stored.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { loadRelayIdentity, type RelayIdentity } from "./relay-identity.ts";
import { updateSecretKey } from "./store.ts";

const passphrase = "correct horse battery staple";

let folder: string;
let starts = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-identity-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens the database and loads the identity as a start of the relay does. */
async function start(given?: string, path = join(folder, "relay.db"), stored?: string) {
  const opened = await openMigrated({ path, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { storage } = opened;
  if (stored !== undefined) await storage.transaction((tx) => updateSecretKey(tx, stored));
  starts += 1;
  const runtime = { ...createManualClock(), ...createSeededRandom(starts) };
  const loaded = await loadRelayIdentity(storage, runtime, given);
  await storage.close();
  return loaded;
}

async function identityOf(...given: Parameters<typeof start>): Promise<RelayIdentity> {
  const loaded = await start(...given);
  if (!loaded.ok) throw new Error(loaded.detail);
  return loaded.identity;
}

const readDatabase = () => readAllStored(join(folder, "relay.db"));

const containsKey = async ({ secretKey }: RelayIdentity) => {
  const disk = await readDatabase();
  return (
    disk.includes(bytesToHex(secretKey)) || disk.includes(Buffer.from(secretKey).toString("latin1"))
  );
};

describe("Relay identity", () => {
  test("the relay creates an identity on the first start and loads it afterwards", async () => {
    const first = await identityOf();
    expect(await identityOf()).toEqual(first);
    expect(first.publicKey).toBe(bytesToHex(didKeyToPublicKey(first.did)));
    expect(first.relayId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test("a relay with a database in memory creates a new identity at each start", async () => {
    const [one, two] = [
      await identityOf(undefined, ":memory:"),
      await identityOf(undefined, ":memory:"),
    ];
    expect(one.relayId).not.toBe(two.relayId);
    expect(one.publicKey).not.toBe(two.publicKey);
  });

  test("the relay stores the key as hex digits without a passphrase", async () => {
    expect(await containsKey(await identityOf())).toBe(true);
  });

  test.each([64, 128])("the relay reads a key from %i hex digits", async (digits) => {
    const { secretKey, publicKey } = await identityOf();
    const hex = (bytesToHex(secretKey) + publicKey).slice(0, digits);
    expect(await identityOf(undefined, undefined, hex)).toMatchObject({ publicKey });
  });
});

describe("Relay identity with a passphrase", () => {
  test("HO13 the relay seals the key at its first start and loads the same key at the next one", async () => {
    const first = await identityOf(passphrase);
    expect(await containsKey(first)).toBe(false);
    expect(await identityOf(passphrase)).toEqual(first);
    expect(await readDatabase()).not.toContain(passphrase);
  });

  test("HO13 a plain key is sealed at the first start with a passphrase, and no plain copy remains", async () => {
    const plain = await identityOf();
    expect(await containsKey(plain)).toBe(true);
    expect(await identityOf(passphrase)).toEqual(plain);
    expect(await containsKey(plain)).toBe(false);
    expect(await identityOf(passphrase)).toEqual(plain);
  });

  test.each([
    ["a wrong passphrase", "wrong", /does not open/],
    ["no passphrase", undefined, /is required/],
  ])("HO13 %s stops the start and changes nothing", async (_, given, detail) => {
    const first = await identityOf(passphrase);
    const before = await readDatabase();
    const refused = await start(given);
    expect(refused).toMatchObject({ ok: false, code: "identity.unreadable" });
    expect(!refused.ok && refused.detail).toMatch(detail);
    expect(await readDatabase()).toBe(before);
    expect(await identityOf(passphrase)).toEqual(first);
  });

  test.each(["", "abc", "zz", "ab".repeat(31), "{}", '{"kdf":"none"}'])(
    "HO13 a damaged stored key stops the start: %j",
    async (stored) => {
      await identityOf();
      expect(await start(passphrase, undefined, stored)).toMatchObject({
        ok: false,
        code: "identity.unreadable",
      });
    },
  );

  test("HO13 a key whose halves do not match stops the start", async () => {
    const { secretKey } = await identityOf();
    const stored = bytesToHex(secretKey) + "ab".repeat(32);
    expect(await start(undefined, undefined, stored)).toMatchObject({
      code: "identity.unreadable",
    });
  });
});
