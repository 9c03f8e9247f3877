import { isSingleCallerGroup, type PlaceHolder } from "./place-holder.ts";

/**
 * A place in a limited table. A `spare` one is given up for any caller, a `held` one for callers with
 * fewer places, and a `kept` one for none.
 */
export interface Place extends PlaceHolder {
  readonly use: "spare" | "held" | "kept";
}

export interface PlaceLimits {
  /** Places of all callers of one group together. */
  readonly perGroup: number;
  /** It does not apply to the owner, nor to what comes from the relay without a submitter. */
  readonly perCaller: number;
}

/** `evicted` is the place that must be given up first. */
export type FoundPlace<Taken extends Place> =
  | { readonly ok: true; readonly evicted: Taken | undefined }
  | { readonly ok: false };

/**
 * Finds a place in a table that callers share; `places` are its places, the oldest first. Callers
 * compete only with callers of their own group, so strangers cannot use up the places of the owner
 * or of known agents. A full table is shared evenly: a place is taken from the caller that has most,
 * unless that caller would then have fewer than the asking one. Of a thousand callers with one place
 * each, none loses it to another. A caller loses no held place to itself: the relay may
 * name no submitters, and one of them must not end the waiting calls of the others.
 */
export function findPlace<Taken extends Place>(
  places: readonly Taken[],
  asking: PlaceHolder,
  { perGroup, perCaller }: PlaceLimits,
): FoundPlace<Taken> {
  const inGroup = places.filter(({ group }) => group === asking.group);
  const own = inGroup.filter(({ caller }) => caller === asking.caller);
  const isCallerFull = !isSingleCallerGroup(asking.group) && own.length >= perCaller;
  if (!isCallerFull && inGroup.length < perGroup) return { ok: true, evicted: undefined };

  const evicted =
    (isCallerFull ? own : inGroup).find(({ use }) => use === "spare") ??
    (isCallerFull ? undefined : findOldestOfLargest(inGroup, own.length + 2));
  return evicted === undefined ? { ok: false } : { ok: true, evicted };
}

/** Finds the oldest held place of the caller with most places, if it has at least `atLeast`. */
function findOldestOfLargest<Taken extends Place>(
  places: readonly Taken[],
  atLeast: number,
): Taken | undefined {
  const counts = new Map<string, number>();
  for (const { caller } of places) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  let oldest: Taken | undefined;
  let largest = atLeast - 1;
  for (const place of places) {
    const count = counts.get(place.caller) ?? 0;
    if (place.use !== "held" || count <= largest) continue;
    oldest = place;
    largest = count;
  }
  return oldest;
}
