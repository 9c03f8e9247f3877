/** Something that has to hold for the demo to succeed. */
export interface Check {
  readonly claim: string;
  readonly held: boolean;
}

/** Nothing can be said of none of them, so that is not enough. */
export function all(held: readonly boolean[]): boolean {
  return held.length > 0 && held.every(Boolean);
}
