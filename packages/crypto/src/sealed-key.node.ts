export type { ReadKeyFileResult } from "./key-file.node.ts";
export { readKeyFile, writeKeyFile } from "./key-file.node.ts";
export type { OpenSealedKeyResult } from "./seal.node.ts";
export { openSealedKey, sealKey } from "./seal.node.ts";
export type { SecretKeyResult } from "./secret-key-hex.ts";
export { parseSecretKeyHex } from "./secret-key-hex.ts";
