import { deriveAgentId, bytesToHex, getPublicKey, type SuccessionRecord } from "@agent/crypto";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { parseSecretKeyHex, readKeyFile, writeKeyFile } from "@agent/crypto/sealed-key";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseIdentityFile, signIdentityFile, type IdentityFile } from "./identity-file.ts";
import { loadSuccession } from "./succession-file.ts";
import { createPrivateFolder, writePrivateFile } from "../files/private-file.ts";
import type { Runtime } from "../runtime.ts";

export interface Identity {
  readonly agentId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly did: string;
  /** The 32-byte seed. */
  readonly secretKey: Uint8Array;
  readonly file: IdentityFile;
  /** The records from its former keys to this one, oldest first. */
  readonly succession?: readonly SuccessionRecord[];
}

export interface IdentityOptions {
  readonly dataDir: string;
  readonly passphrase: string | undefined;
  readonly privateKeyHex: string | undefined;
  readonly name: string;
  readonly agentType: string;
}

interface LoadedIdentity {
  readonly identity: Identity;
  /** Whether a key that was stored in plain form has been sealed with the passphrase. */
  readonly isNewlySealed: boolean;
}

type Result<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly fault: string };

/**
 * Loads the agent's identity from the data folder, creates it there on the first start, or derives
 * it from a key in the environment. A new agent id is derived from its key, so that no other key
 * can claim it at a relay. A stored identity that cannot be read stops the start and is never
 * replaced.
 */
export async function loadIdentity(
  options: IdentityOptions,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): Promise<Result<LoadedIdentity>> {
  try {
    const stored = await loadIdentityFile(options.dataDir);
    if (!stored.ok) return stored;
    if (options.privateKeyHex === undefined && existsSync(nextKeyFilePath(options.dataDir))) {
      return fault(options.dataDir, "holds an unfinished key change: run agent-server rotate-key");
    }
    const key = await loadOrCreateKey(options, stored.file !== null, runtime);
    if (!key.ok) return key;

    const publicKey = bytesToHex(getPublicKey(key.secretKey));
    if (stored.file !== null && stored.file.public_key !== publicKey) {
      return fault(options.dataDir, "holds the identity of another key");
    }
    const file = signIdentityFile(
      {
        agentId: stored.file?.agent_id ?? deriveAgentId(publicKey),
        publicKey,
        agentType: options.agentType,
        name: options.name,
        createdAt: stored.file?.created_at ?? runtime.now(),
      },
      key.secretKey,
    );
    if (options.privateKeyHex === undefined)
      await writePrivateFile(identityFilePath(options.dataDir), file);
    const { agent_id: agentId, did } = file;
    const succession = await loadSuccession(options.dataDir, publicKey);
    const { secretKey, isNewlySealed } = key;
    const identity = { agentId, publicKey, did, secretKey, file, succession };
    return { ok: true, identity, isNewlySealed };
  } catch (cause) {
    return fault(options.dataDir, `cannot be used: ${String(cause)}`);
  }
}

export async function loadIdentityFile(
  dataDir: string,
): Promise<Result<{ file: IdentityFile | null }>> {
  const text = await readFileIfPresent(identityFilePath(dataDir));
  if (text === undefined) return { ok: true, file: null };
  const file = parseIdentityFile(text);
  return file === null
    ? fault(
        identityFilePath(dataDir),
        "is not an identity file, or was changed after it was signed",
      )
    : { ok: true, file };
}

async function loadOrCreateKey(
  options: IdentityOptions,
  isIdentityStored: boolean,
  runtime: Pick<Runtime, "randomBytes">,
): Promise<Result<{ secretKey: Uint8Array; isNewlySealed: boolean }>> {
  if (options.privateKeyHex !== undefined) {
    const parsed = parseSecretKeyHex(options.privateKeyHex);
    return parsed.ok
      ? { ...parsed, isNewlySealed: false }
      : fault(PRIVATE_KEY_VARIABLE, keyFaults[parsed.code]);
  }
  const path = keyFilePath(options.dataDir);
  const read = await readKeyFile(path, options.passphrase);
  if (!read.ok && read.code !== "key.file_missing") return fault(path, keyFaults[read.code]);
  if (!read.ok && isIdentityStored)
    return fault(path, "is missing, although its identity file exists");
  if (read.ok && !read.needsSealing) return { ...read, isNewlySealed: false };

  const secretKey = read.ok ? read.secretKey : runtime.randomBytes(32);
  await createPrivateFolder(options.dataDir);
  await writeKeyFile(path, secretKey, options.passphrase);
  return { ok: true, secretKey, isNewlySealed: read.ok };
}

const PRIVATE_KEY_VARIABLE = "AGENT_PRIVATE_KEY_HEX";

/** Returns the fault of a key from the environment, without access to the data folder. */
export function checkPrivateKey(hex: string | undefined): string | undefined {
  const parsed = hex === undefined ? undefined : parseSecretKeyHex(hex);
  return parsed?.ok === false ? `${PRIVATE_KEY_VARIABLE}: ${keyFaults[parsed.code]}` : undefined;
}

export const keyFaults = {
  "key.malformed": "holds no private key (64 or 128 hex digits, or a sealed key)",
  "key.halves_mismatch": "holds a private key whose second half is not its public key",
  "key.passphrase_missing": "is sealed: AGENT_PASSPHRASE is required",
  "key.passphrase_wrong": "cannot be opened with this AGENT_PASSPHRASE",
} as const;

/** The file of the key that is in force. */
export function keyFilePath(dataDir: string): string {
  return join(dataDir, "identity.key");
}

/** The file of a key that takes over; present only while a change of the key is not finished. */
export function nextKeyFilePath(dataDir: string): string {
  return join(dataDir, "identity.key.next");
}

export function identityFilePath(dataDir: string): string {
  return join(dataDir, "identity.json");
}

function fault(source: string, message: string): { ok: false; fault: string } {
  return { ok: false, fault: `${source}: ${message}` };
}
