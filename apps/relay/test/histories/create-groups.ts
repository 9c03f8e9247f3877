import fc from "fast-check";
import type { Picks } from "./history-step.ts";

/** The names of steps that run at once, with the numbers that they choose by. */
export type Group = readonly (readonly [name: string, picks: Picks])[];

interface GivenSteps {
  readonly steps: object;
  /** Steps beside which no other step runs. */
  readonly soloSteps: object;
  /** The maximum number of steps that run at once. */
  readonly maxTogether: number;
  /** The frequency of each step relative to the others; 1 for one that is not named. */
  readonly weights: Readonly<Record<string, number>>;
}

/** The weight that a history adds to the few steps that it repeats. */
const REPEATED_WEIGHT = 25;

/** A number without a bias to small ones, because steps use its remainders. */
const pick = fc.noBias(fc.nat());

function createGroup(
  { steps, soloSteps, maxTogether, weights }: GivenSteps,
  repeated: readonly string[],
): fc.Arbitrary<Group> {
  const stepOf = (given: object) => {
    const names = Object.keys(given).map((name) => ({
      weight: (weights[name] ?? 1) + (repeated.includes(name) ? REPEATED_WEIGHT : 0),
      arbitrary: fc.constant(name),
    }));
    return fc.tuple(fc.oneof(...names), fc.tuple(pick, pick, pick, pick));
  };
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(stepOf(steps)) },
    { weight: 4, arbitrary: fc.array(stepOf(steps), { minLength: 2, maxLength: maxTogether }) },
    { weight: 3, arbitrary: fc.tuple(stepOf(soloSteps)) },
  );
}

/** Up to `maxGroups` groups of steps, among which a history repeats a few. */
export function createGroups(given: GivenSteps, maxGroups: number): fc.Arbitrary<readonly Group[]> {
  const names = Object.keys({ ...given.steps, ...given.soloSteps });
  return fc.subarray(names, { maxLength: 4 }).chain((repeated) =>
    fc.array(createGroup(given, repeated), {
      minLength: Math.floor(maxGroups / 2),
      maxLength: maxGroups,
      size: "max",
    }),
  );
}
