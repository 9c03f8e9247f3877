/** A computation that may pause between its steps. */
export type Steps<T> = Generator<void, T, void>;

/** Few enough that parsing or writing so many events takes a few milliseconds. */
const ITEMS_PER_STEP = 256;

/** Maps a long list in steps, between which a server can do other work. */
export function* mapInSteps<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    if (results.length > 0 && results.length % ITEMS_PER_STEP === 0) yield;
    results.push(map(item));
  }
  return results;
}

/** Runs all steps without a pause. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
