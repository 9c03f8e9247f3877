/** The bytes of a SHA-256. */
export const DIGEST_BYTES = 32;

/** Consecutive digests in one buffer. */
interface Piece {
  readonly source: Buffer;
  readonly start: number;
  end: number;
}

/**
 * The SHA-256 of each of many candidates, in order. Digests that are adjacent in one buffer form one piece,
 * because few long pieces are hashed faster than many digests.
 */
export class DigestList {
  readonly #pieces: Piece[] = [];

  /** The number of digests. */
  get length(): number {
    const bytes = this.#pieces.reduce((sum, { start, end }) => sum + end - start, 0);
    return bytes / DIGEST_BYTES;
  }

  /** Adds the digest at an offset of a buffer, which must not change while the list is in use. */
  add(source: Buffer, start = 0): void {
    const last = this.#pieces.at(-1);
    if (last?.source === source && last.end === start) last.end += DIGEST_BYTES;
    else this.#pieces.push({ source, start, end: start + DIGEST_BYTES });
  }

  /** Lists the digests in order, in as few buffers as possible. */
  pieces(): Buffer[] {
    return this.#pieces.map(({ source, start, end }) => source.subarray(start, end));
  }
}
