/** The room that an answer has for records. */
export interface Room {
  /** Reserves room for a record with these texts; false from the first record that does not fit. */
  reserve(...texts: readonly string[]): boolean;
}

/** Creates room for texts of so many bytes of UTF-8. */
export function createRoom(bytes: number): Room {
  let left = bytes;
  return {
    reserve(...texts) {
      for (const text of texts) left -= Buffer.byteLength(text);
      return left >= 0;
    },
  };
}
