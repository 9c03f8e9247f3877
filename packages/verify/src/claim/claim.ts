/** What an artifact says, in words; whether that is proven is for its verdict. */
export interface Claim {
  /** Who did what for whom. */
  readonly statement: string;
  /** When, and for how much. */
  readonly details: readonly string[];
  /** Who signed, by the artifact's own account; null for what is not signed at all. */
  readonly signer: string | null;
  /** The key by which it is to be judged, as the artifact writes it; null where it names none. */
  readonly key: string | null;
}
