/** The statement of an artifact in words; its verdict says whether it is proven. */
export interface Claim {
  /** The main statement: the agent, its action and the other party. */
  readonly statement: string;
  /** Times and amounts. */
  readonly details: readonly string[];
  /** The signer that the artifact names; null if it is unsigned. */
  readonly signer: string | null;
  /**
   * The key that the artifact names for its verification; null if it names none. Of a valid receipt, the key
   * that it was verified with.
   */
  readonly key: string | null;
}
