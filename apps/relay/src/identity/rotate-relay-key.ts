import { generateKeyPair, MAX_RELAY_KEYS, signRelaySuccession } from "@agent/crypto";
import type { Runtime } from "../runtime.ts";
import type { Storage } from "../storage/storage.ts";
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
 * Gives the relay a new key under its old id. Both keys sign the step, and one transaction stores it
 * and replaces the old key, so that a crash leaves one of both states intact.
 */
export async function rotateRelayKey(
  storage: Storage,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { passphrase, reason }: { readonly passphrase?: string; readonly reason?: string },
): Promise<RotationResult> {
  if ((await findIdentity(storage.read)) === undefined) {
    return {
      ok: false,
      code: "identity.missing",
      detail: "the relay has no key yet: start it once",
    };
  }
  const loaded = await loadRelayIdentity(storage, runtime, passphrase);
  if (!loaded.ok) return loaded;
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
    await updateSecretKey(tx, secret_key);
  });
  // The old key must not remain readable in the write-ahead log.
  await storage.scrub();
  return { ok: true, relayId, publicKey: record.new_public_key };
}
