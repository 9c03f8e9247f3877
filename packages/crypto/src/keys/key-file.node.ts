import { assertSecretKey } from "../ed25519/ed25519-rules.ts";
import { bytesToHex } from "../formats.ts";
import { readFileIfPresent, writePrivateText } from "../private-file.node.ts";
import { openSealedKey, sealKey } from "./seal.node.ts";
import { parseSecretKeyHex } from "./secret-key-hex.ts";

/** The 32-byte secret key of a file, or the code of its refusal. */
export type ReadKeyFileResult =
  | {
      readonly ok: true;
      readonly secretKey: Uint8Array;
      /**
       * The file is not encrypted although a passphrase was given; the caller should write it
       * again.
       */
      readonly needsSealing: boolean;
    }
  | {
      readonly ok: false;
      readonly code:
        | "key.file_missing"
        | "key.malformed"
        | "key.halves_mismatch"
        | "key.passphrase_missing"
        | "key.passphrase_wrong";
    };

/**
 * Writes a secret key to a file of mode 0600, sealed if there is a passphrase and otherwise as
 * plain hex. The file replaces an existing one and is never visible in part.
 */
export async function writeKeyFile(
  path: string,
  secretKey: Uint8Array,
  passphrase?: string,
): Promise<void> {
  assertSecretKey(secretKey);
  const text =
    passphrase === undefined ? bytesToHex(secretKey) : await sealKey(secretKey, passphrase);
  await writePrivateText(path, `${text}\n`);
}

/**
 * Reads a file of `writeKeyFile`, or one of 64 or 128 hex digits. Refuses a missing file
 * (`key.file_missing`), a sealed file without its passphrase (`key.passphrase_missing`), a wrong
 * passphrase or a changed file (`key.passphrase_wrong`), and other content as `parseSecretKeyHex` and
 * `openSealedKey` do. Throws other file system errors.
 */
export async function readKeyFile(path: string, passphrase?: string): Promise<ReadKeyFileResult> {
  const text = (await readFileIfPresent(path))?.trim();
  if (text === undefined) return { ok: false, code: "key.file_missing" };
  if (!text.startsWith("{")) {
    const plain = parseSecretKeyHex(text);
    return plain.ok ? { ...plain, needsSealing: passphrase !== undefined } : plain;
  }
  if (passphrase === undefined) return { ok: false, code: "key.passphrase_missing" };
  const opened = await openSealedKey(text, passphrase);
  return opened.ok ? { ...opened, needsSealing: false } : opened;
}
