/** Excludes 0, O, 1, I and L, which are easily confused. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** Generates a pairing code of uniformly distributed characters. */
export function createPairingCode(randomBytes: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < CODE_LENGTH) {
    for (const byte of randomBytes(CODE_LENGTH)) {
      // 248 is the largest multiple of 31 in a byte; higher values would favour the first letters.
      if (byte < 248 && code.length < CODE_LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}
