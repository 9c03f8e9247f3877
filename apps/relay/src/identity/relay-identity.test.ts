import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesToHex, didKeyToPublicKey } from "@agent/crypto";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import { loadRelayIdentity, type RelayIdentity } from "./relay-identity.ts";
import { updateSecretKey } from "./store.ts";

const passphrase = "correct horse battery staple";

let folder: string;
let starts = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-identity-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What one start of a relay makes of the database. */
async function start(given?: string, path = join(folder, "relay.db"), stored?: string) {
  const opened = await openStorage({ path, migrations });
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

/** All that lies in the database's files. */
function bytesOnDisk(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("");
}

const holdsKey = ({ secretKey }: RelayIdentity) => {
  const disk = bytesOnDisk();
  return (
    disk.includes(bytesToHex(secretKey)) || disk.includes(Buffer.from(secretKey).toString("latin1"))
  );
};

describe("a relay's identity", () => {
  test("is made on the first start and stays", async () => {
    const first = await identityOf();
    expect(await identityOf()).toEqual(first);
    expect(first.publicKey).toBe(bytesToHex(didKeyToPublicKey(first.did)));
    expect(first.relayId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test("in memory is another one at each start", async () => {
    const [one, two] = [
      await identityOf(undefined, ":memory:"),
      await identityOf(undefined, ":memory:"),
    ];
    expect(one.relayId).not.toBe(two.relayId);
    expect(one.publicKey).not.toBe(two.publicKey);
  });

  test("without a passphrase lies there as hex digits", async () => {
    expect(holdsKey(await identityOf())).toBe(true);
  });

  test.each([64, 128])("is read from %i hex digits", async (digits) => {
    const { secretKey, publicKey } = await identityOf();
    const hex = (bytesToHex(secretKey) + publicKey).slice(0, digits);
    expect(await identityOf(undefined, undefined, hex)).toMatchObject({ publicKey });
  });
});

describe("HO13 with a passphrase", () => {
  test("the key is sealed from the first start on, and is the same at the next", async () => {
    const first = await identityOf(passphrase);
    expect(holdsKey(first)).toBe(false);
    expect(await identityOf(passphrase)).toEqual(first);
    expect(bytesOnDisk()).not.toContain(passphrase);
  });

  test("that was set later the key is sealed at the next start, and no trace of it is left", async () => {
    const plain = await identityOf();
    expect(holdsKey(plain)).toBe(true);
    expect(await identityOf(passphrase)).toEqual(plain);
    expect(holdsKey(plain)).toBe(false);
    expect(await identityOf(passphrase)).toEqual(plain);
  });

  test.each([
    ["a wrong one", "wrong", /does not open/],
    ["none", undefined, /is required/],
  ])("%s stops the start and changes nothing", async (_, given, detail) => {
    const first = await identityOf(passphrase);
    const before = bytesOnDisk();
    const refused = await start(given);
    expect(refused).toMatchObject({ ok: false, code: "identity.unreadable" });
    expect(!refused.ok && refused.detail).toMatch(detail);
    expect(bytesOnDisk()).toBe(before);
    expect(await identityOf(passphrase)).toEqual(first);
  });

  test.each(["", "abc", "zz", "ab".repeat(31), "{}", '{"kdf":"none"}'])(
    "a stored key that is damaged stops the start: %j",
    async (stored) => {
      await identityOf();
      expect(await start(passphrase, undefined, stored)).toMatchObject({
        ok: false,
        code: "identity.unreadable",
      });
    },
  );

  test("a key whose second half is another's stops the start", async () => {
    const { secretKey } = await identityOf();
    const stored = bytesToHex(secretKey) + "ab".repeat(32);
    expect(await start(undefined, undefined, stored)).toMatchObject({
      code: "identity.unreadable",
    });
  });
});
