/** Without 0, O, 1, I and L, which are mistaken for each other. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const CODE_LENGTH = 6;

/** A pairing code, each of its characters equally likely. */
export function createPairingCode(randomBytes: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < CODE_LENGTH) {
    for (const byte of randomBytes(CODE_LENGTH)) {
      // The largest multiple of 31 in a byte: beyond it the first letters would come more often.
      if (byte < 248 && code.length < CODE_LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}
