import { bytesToHex, getPublicKey } from "@agent/crypto";
import { readKeyFile, writeKeyFile } from "@agent/crypto/sealed-key";
import { rename } from "node:fs/promises";
import { writePrivateFile } from "../files/private-file.ts";
import type { Runtime } from "../runtime.ts";
import { signIdentityFile } from "./identity-file.ts";
import {
  identityFilePath,
  keyFaults,
  keyFilePath,
  loadIdentityFile,
  nextKeyFilePath,
} from "./identity.ts";

/** A change of an agent's key. The new key is on disk before the relay hears of it. */
export interface KeyChange {
  readonly agentId: string;
  /** The 32-byte seeds. */
  readonly oldSecretKey: Uint8Array;
  readonly newSecretKey: Uint8Array;
}

interface KeyFolder {
  readonly dataDir: string;
  readonly passphrase: string | undefined;
}

type BegunChange = { readonly ok: true; readonly change: KeyChange } | Fault;
type Fault = { readonly ok: false; readonly fault: string };

/**
 * Begins to change the key of a data folder, or continues an interrupted change: the new key is then the
 * same, because the relay may already know it. Refused without a stored identity.
 */
export async function beginKeyChange(
  { dataDir, passphrase }: KeyFolder,
  { randomBytes }: Pick<Runtime, "randomBytes">,
): Promise<BegunChange> {
  const stored = await loadIdentityFile(dataDir);
  if (!stored.ok) return stored;
  const old = await readKeyFile(keyFilePath(dataDir), passphrase);
  if (stored.file === null) return fault(dataDir, "holds no identity");
  if (!old.ok) {
    return old.code === "key.file_missing"
      ? fault(dataDir, "holds no key")
      : fault(keyFilePath(dataDir), keyFaults[old.code]);
  }
  const nextPath = nextKeyFilePath(dataDir);
  const next = await readKeyFile(nextPath, passphrase);
  if (!next.ok && next.code !== "key.file_missing") return fault(nextPath, keyFaults[next.code]);
  const newSecretKey = next.ok ? next.secretKey : randomBytes(32);
  const known = [old.secretKey, newSecretKey].map((key) => bytesToHex(getPublicKey(key)));
  if (!known.includes(stored.file.public_key)) {
    return fault(dataDir, "holds the identity of another key");
  }
  if (!next.ok) await writeKeyFile(nextPath, newSecretKey, passphrase);
  const { agent_id: agentId } = stored.file;
  return { ok: true, change: { agentId, oldSecretKey: old.secretKey, newSecretKey } };
}

/** Puts the new key in force; the old one is gone. Can be repeated after an interruption. */
export async function finishKeyChange(
  dataDir: string,
  { newSecretKey }: Pick<KeyChange, "newSecretKey">,
): Promise<void> {
  const stored = await loadIdentityFile(dataDir);
  if (!stored.ok || stored.file === null) throw new Error("the identity file is gone");
  const { agent_id: agentId, agent_type: agentType, name, created_at: createdAt } = stored.file;
  const publicKey = bytesToHex(getPublicKey(newSecretKey));
  const members = { agentId, publicKey, agentType, name, createdAt };
  await writePrivateFile(identityFilePath(dataDir), signIdentityFile(members, newSecretKey));
  await rename(nextKeyFilePath(dataDir), keyFilePath(dataDir));
}

function fault(source: string, message: string): Fault {
  return { ok: false, fault: `${source}: ${message}` };
}
