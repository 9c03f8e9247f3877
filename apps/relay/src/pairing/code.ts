/** Without 0, O, 1, I and L, which are mistaken for each other. */
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const length = 6;

/** A pairing code, each of its characters equally likely. */
export function newCode(randomBytes: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < length) {
    for (const byte of randomBytes(length)) {
      // The largest multiple of 31 in a byte: beyond it the first letters would come more often.
      if (byte < 248 && code.length < length) code += alphabet[byte % alphabet.length];
    }
  }
  return code;
}
