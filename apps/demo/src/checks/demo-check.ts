/** Something that has to hold for the demo to succeed. */
export interface DemoCheck {
  readonly claim: string;
  readonly passed: boolean;
}

/** Nothing can be said of none of them, so that is not enough. */
export function allHold(held: readonly boolean[]): boolean {
  return held.length > 0 && held.every(Boolean);
}
