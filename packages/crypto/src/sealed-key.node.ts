export type { ReadKeyFileResult } from "./keys/key-file.node.ts";
export { readKeyFile, writeKeyFile } from "./keys/key-file.node.ts";
export type { OpenSealedKeyResult } from "./keys/seal.node.ts";
export { openSealedKey, sealKey } from "./keys/seal.node.ts";
export type { SecretKeyResult } from "./keys/secret-key-hex.ts";
export { parseSecretKeyHex } from "./keys/secret-key-hex.ts";
