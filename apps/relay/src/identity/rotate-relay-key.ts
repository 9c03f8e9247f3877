import { generateKeyPair, MAX_RELAY_KEYS, signRelaySuccession } from "@agent/crypto";
import { entryOf } from "@agent/transparency";
import { appendLog } from "../log/entries/append.ts";
import { keepLogKeys } from "../log/keep-log-keys.ts";
import type { Runtime } from "../runtime.ts";
import type { Storage } from "../storage/storage.ts";
import { finishScrub } from "./finish-scrub.ts";
import { loadRelayIdentity, formatStoredKey } from "./relay-identity.ts";
import { findIdentity, insertSuccession, updateSecretKey } from "./store.ts";

export type RotationResult =
  | { readonly ok: true; readonly relayId: string; readonly publicKey: string }
  | {
      readonly ok: false;
      readonly code: "identity.missing" | "identity.unreadable" | "identity.too_many_keys";
      readonly detail: string;
    };

/**
 * Gives the relay a new key under its old id. Both keys sign the succession record, and one transaction
 * stores it and replaces the old key, so that a crash leaves either state intact.
 */
export async function rotateRelayKey(
  storage: Storage,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  {
    passphrase,
    reason,
    isStolen = false,
  }: { readonly passphrase?: string; readonly reason?: string; readonly isStolen?: boolean },
): Promise<RotationResult> {
  const stored = await findIdentity(storage.read);
  if (stored === undefined) {
    return {
      ok: false,
      code: "identity.missing",
      detail: "the relay has no key yet: start it once",
    };
  }
  const loaded = await loadRelayIdentity(storage, runtime, passphrase);
  if (!loaded.ok) return loaded;
  // A passphrase that was set later has sealed the key while it was loaded.
  const oldKey = (await findIdentity(storage.read))?.secret_key ?? stored.secret_key;
  const { relayId, secretKey, succession, publicKeys } = loaded.identity;
  if (publicKeys.length >= MAX_RELAY_KEYS) {
    const detail = `a relay has at most ${MAX_RELAY_KEYS} keys`;
    return { ok: false, code: "identity.too_many_keys", detail };
  }
  const next = generateKeyPair(runtime.randomBytes(32));
  const record = signRelaySuccession({
    relay_id: relayId,
    oldSecretKey: secretKey,
    newSecretKey: next.secretKey,
    // A clock that was set back must not date a step before the previous one.
    timestamp: Math.max(runtime.now(), (succession.at(-1)?.timestamp ?? -1) + 1),
    ...(reason !== undefined && { reason }),
  });
  const secret_key = await formatStoredKey(next.secretKey, passphrase);
  await storage.transaction(async (tx) => {
    // The position is unique in the table, and the lock on the file excludes every other process.
    await insertSuccession(tx, { position: succession.length, record: JSON.stringify(record) });
    const now = runtime.now();
    await keepLogKeys(tx, { oldKey, isStolen, now });
    await updateSecretKey(tx, secret_key);
    await appendLog(tx, () => entryOf.relayKey(record, { time: now }));
  });
  // The old key must not remain readable in the write-ahead log.
  await finishScrub(storage);
  return { ok: true, relayId, publicKey: record.new_public_key };
}
