import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { canonicalize } from "../json/canonical-json.ts";
import { assertSecretKey } from "../ed25519/ed25519-rules.ts";
import { fromBase64Url, toBase64Url } from "../formats.ts";
import { unlessMalformed } from "../unless-malformed.ts";

/** The 32-byte secret key in a sealed text, or the code of its refusal. */
export type OpenSealedKeyResult =
  | { readonly ok: true; readonly secretKey: Uint8Array }
  | { readonly ok: false; readonly code: "key.malformed" | "key.passphrase_wrong" };

// The format fixes every parameter and the authentication tag covers them, so that an edited file
// can request neither a cheaper derivation nor an endless one.
const SEAL_PARAMETERS = {
  format: "agent-sealed-key-v1",
  cipher: "aes-256-gcm",
  kdf: "pbkdf2-sha256",
  iterations: 600_000,
} as const;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const SECRET_KEY_BYTES = 32;
const TAG_BYTES = 16;

const pbkdf2Async = promisify(pbkdf2);

/**
 * Seals a 32-byte secret key with a passphrase and returns one line of JSON: AES-256-GCM under a
 * key of PBKDF2-SHA-256 with 600,000 rounds, with a new salt and nonce. Throws RangeError on an
 * empty passphrase.
 */
export async function sealKey(secretKey: Uint8Array, passphrase: string): Promise<string> {
  if (passphrase === "") throw new RangeError("passphrase must not be empty");
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const header = { ...SEAL_PARAMETERS, salt: toBase64Url(salt), nonce: toBase64Url(nonce) };
  const cipher = createCipheriv(SEAL_PARAMETERS.cipher, await deriveKey(passphrase, salt), nonce);
  cipher.setAAD(Buffer.from(canonicalize(header)));
  const sealed = Buffer.concat([
    cipher.update(assertSecretKey(secretKey)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return JSON.stringify({ ...header, sealed: toBase64Url(sealed) });
}

/**
 * Opens a text made by `sealKey`. Refuses any other text (`key.malformed`), and a wrong passphrase
 * or a changed text (`key.passphrase_wrong`).
 */
export async function openSealedKey(
  text: string,
  passphrase: string,
): Promise<OpenSealedKeyResult> {
  const parts = parseSealedKey(text);
  if (parts === undefined) return { ok: false, code: "key.malformed" };
  const { header, salt, nonce, sealed } = parts;
  const options = { authTagLength: TAG_BYTES };
  const key = await deriveKey(passphrase, salt);
  const decipher = createDecipheriv(SEAL_PARAMETERS.cipher, key, nonce, options);
  decipher.setAAD(Buffer.from(header));
  decipher.setAuthTag(sealed.subarray(SECRET_KEY_BYTES));
  const secretKey = decipher.update(sealed.subarray(0, SECRET_KEY_BYTES));
  try {
    decipher.final();
  } catch {
    return { ok: false, code: "key.passphrase_wrong" };
  }
  return { ok: true, secretKey: new Uint8Array(secretKey) };
}

function deriveKey(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return pbkdf2Async(passphrase, salt, SEAL_PARAMETERS.iterations, 32, "sha256");
}

function parseSealedKey(text: string) {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const { sealed, ...header } = value as Record<string, unknown>;
  const { salt, nonce, ...parameters } = header;
  return unlessMalformed(() => {
    if (canonicalize(parameters) !== canonicalize(SEAL_PARAMETERS)) return undefined;
    const parts = {
      header: canonicalize(header),
      salt: fromBase64Url(String(salt)),
      nonce: fromBase64Url(String(nonce)),
      sealed: fromBase64Url(String(sealed)),
    };
    return parts.salt.length === SALT_BYTES &&
      parts.nonce.length === NONCE_BYTES &&
      parts.sealed.length === SECRET_KEY_BYTES + TAG_BYTES
      ? parts
      : undefined;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
