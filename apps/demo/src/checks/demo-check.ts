/** A claim that must be true for the demo to succeed. */
export interface DemoCheck {
  readonly claim: string;
  readonly passed: boolean;
}

/** Returns whether all conditions are true; false without any condition. */
export function allHold(conditions: readonly boolean[]): boolean {
  return conditions.length > 0 && conditions.every(Boolean);
}
