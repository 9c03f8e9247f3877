import {
  bytesToHex,
  generateKeyPair,
  getPublicKey,
  publicKeyToDidKey,
  verifyRelaySuccession,
  type RelaySuccessionRecord,
} from "@agent/crypto";
import { openSealedKey, parseSecretKeyHex, sealKey } from "@agent/crypto/sealed-key";
import { newId, type Runtime } from "../runtime.ts";
import type { Storage } from "../storage/storage.ts";
import type { RelayIdentityRow } from "../storage/tables/identity.ts";
import { finishScrub } from "./finish-scrub.ts";
import { findIdentity, insertIdentity, listSuccessions, updateSecretKey } from "./store.ts";

/** A succession step of the relay's key, as both keys signed it. */
export type SignedSuccession = RelaySuccessionRecord & { readonly [member: string]: unknown };

/** The relay's own key, which signs settlement records and the tokens sent to agents. */
export interface RelayIdentity {
  readonly relayId: string;
  readonly secretKey: Uint8Array;
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly did: string;
  /** The succession steps, oldest first. */
  readonly succession: readonly SignedSuccession[];
  /** All current and former keys, in 64 hex digits, the one in force last. */
  readonly publicKeys: readonly string[];
}

type LoadIdentityResult =
  | { readonly ok: true; readonly identity: RelayIdentity }
  | { readonly ok: false; readonly code: "identity.unreadable"; readonly detail: string };

/**
 * Loads the relay's identity, or creates it on the first start. A passphrase that was set later seals
 * the stored key; a wrong or missing one stops the start.
 */
export async function loadRelayIdentity(
  storage: Storage,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  passphrase: string | undefined,
): Promise<LoadIdentityResult> {
  const stored =
    (await findIdentity(storage.read)) ?? (await createIdentity(storage, runtime, passphrase));
  const opened = await openStoredKey(stored.secret_key, passphrase);
  if (!opened.ok) return opened;
  if (passphrase !== undefined && !isSealed(stored.secret_key)) {
    const sealed = await sealKey(opened.secretKey, passphrase);
    await storage.transaction((tx) => updateSecretKey(tx, sealed));
    await finishScrub(storage);
  }
  const rows = await listSuccessions(storage.read);
  const succession = rows.map(({ record }) => JSON.parse(record) as SignedSuccession);
  return buildIdentity(stored.relay_id, opened.secretKey, succession);
}

/** Returns the identity that is stored, which is that of another process if two start at once. */
async function createIdentity(
  storage: Storage,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  passphrase: string | undefined,
): Promise<RelayIdentityRow> {
  const { secretKey } = generateKeyPair(runtime.randomBytes(32));
  const relay_id = newId(runtime);
  const secret_key = await formatStoredKey(secretKey, passphrase);
  const row = { one: 1 as const, relay_id, secret_key, created_at: runtime.now() };
  return storage.transaction(async (tx) => {
    await insertIdentity(tx, row);
    const stored = await findIdentity(tx);
    if (stored === undefined) throw new Error("the identity was not stored");
    return stored;
  });
}

function buildIdentity(
  relayId: string,
  secretKey: Uint8Array,
  succession: readonly SignedSuccession[],
): LoadIdentityResult {
  const keyBytes = getPublicKey(secretKey);
  const publicKey = bytesToHex(keyBytes);
  const firstPublicKey = succession[0]?.old_public_key ?? publicKey;
  const chain = verifyRelaySuccession(succession, { relayId, firstPublicKey });
  if (!chain.ok || chain.publicKeys.at(-1) !== publicKey) {
    const detail = "the stored successions do not lead to the relay key";
    return { ok: false, code: "identity.unreadable", detail };
  }
  const { publicKeys } = chain;
  const did = publicKeyToDidKey(keyBytes);
  return { ok: true, identity: { relayId, secretKey, publicKey, did, succession, publicKeys } };
}

/** The stored form of the key: sealed when there is a passphrase. */
export function formatStoredKey(
  secretKey: Uint8Array,
  passphrase: string | undefined,
): Promise<string> {
  return passphrase === undefined
    ? Promise.resolve(bytesToHex(secretKey))
    : sealKey(secretKey, passphrase);
}

/** Returns whether a stored key is plain: hex digits and nothing else. */
export function isSealed(text: string): boolean {
  return !/^[0-9a-f]+$/.test(text);
}

type OpenKeyResult =
  | { readonly ok: true; readonly secretKey: Uint8Array }
  | { readonly ok: false; readonly code: "identity.unreadable"; readonly detail: string };

/** Opens a stored key; a wrong or missing passphrase is refused. */
export async function openStoredKey(
  text: string,
  passphrase: string | undefined,
): Promise<OpenKeyResult> {
  const unreadable = (detail: string) =>
    ({ ok: false, code: "identity.unreadable", detail }) as const;
  if (!isSealed(text)) {
    const parsed = parseSecretKeyHex(text);
    return parsed.ok ? parsed : unreadable("the stored relay key is damaged");
  }
  if (passphrase === undefined) {
    return unreadable("the relay key is sealed: AGENT_RELAY_KEY_PASSPHRASE is required");
  }
  const opened = await openSealedKey(text, passphrase);
  return opened.ok ? opened : unreadable("AGENT_RELAY_KEY_PASSPHRASE does not open the relay key");
}

/** Builds the member of the identity documents; absent for a relay that never changed its key. */
export function toSuccessionMember({ succession }: Pick<RelayIdentity, "succession">): {
  readonly succession?: SignedSuccession[];
} {
  return succession.length > 0 ? { succession: [...succession] } : {};
}
