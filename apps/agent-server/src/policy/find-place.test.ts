import { describe, expect, test } from "vitest";
import { findPlace, type Place } from "./find-place.ts";
import type { CallerGroup } from "./place-holder.ts";

const limits = { perGroup: 4, perCaller: 3 };

/** Writes places as "caller use group", the oldest first; a held one of a stranger is its caller only. */
function parsePlaces(text: string): (Place & { readonly text: string })[] {
  return text
    .split(", ")
    .filter((one) => one !== "")
    .map((one) => {
      const [caller = "", use = "held", group = "unknown"] = one.split(" ");
      return { caller, use: use as Place["use"], group: group as CallerGroup, text: one };
    });
}

describe("a place in a shared table", () => {
  test.each<[string, string, string, string]>([
    ["is free in an empty table", "", "a", "free"],
    ["is free below both limits", "a, a, b", "a", "free"],
    ["is free while only other groups are full", "a, a, b, c", "o held owner", "free"],
    ["is free for a known agent among strangers", "a, a, b, c", "k held verified", "free"],
    ["is taken from the caller with most, its oldest first", "b, a, a, c", "d", "a"],
    ["is taken from a caller that keeps as many as the asking one", "b, b, b, a", "a", "b"],
    ["is not taken from a caller that would keep fewer", "b, b, a, c", "c", "none"],
    ["is refused to a new caller among callers with one each", "a, b, c, d", "e", "none"],
    ["is refused to a second call among callers with one each", "a, b, c, d", "b", "none"],
    ["is refused at the caller's limit, though the own ones are held", "a, a kept, a", "a", "none"],
    [
      "is free for the relay up to the limit of its group",
      "r held relay, r held relay, r held relay",
      "r held relay",
      "free",
    ],
    [
      "is free for the owner up to the limit of its group",
      "o held owner, o held owner, o held owner",
      "o held owner",
      "free",
    ],
    [
      "is refused to the relay in its full group, and no held one ends",
      "r held relay, r held relay, r held relay, r held relay",
      "r held relay",
      "none",
    ],
    [
      "is the relay's spare one in its full group",
      "r held relay, r spare relay, r held relay, r held relay",
      "r held relay",
      "r spare relay",
    ],
    [
      "does not cost others anything at the caller's limit",
      "b spare, a kept, a kept, a kept",
      "a",
      "none",
    ],
    ["is refused where the caller keeps all of its places", "a kept, a kept, a kept", "a", "none"],
    ["is a spare one before any held one", "a, a, a, b spare", "c", "b spare"],
    ["is the own spare one at the caller's limit", "b spare, a, a, a spare", "a", "a spare"],
    ["is never a kept one", "a kept, a kept, a, b", "c", "a"],
    ["is refused where all are kept", "a kept, a kept, a kept, b kept", "c", "none"],
    ["is not a spare one of another group", "a, b, c, d, k spare verified", "e", "none"],
  ])("a place %s", (_, places, asking, expected) => {
    const [asked] = parsePlaces(asking);
    const found = findPlace(parsePlaces(places), asked!, limits);
    expect(found.ok ? (found.evicted?.text ?? "free") : "none").toBe(expected);
  });

  test("a full table is in the end shared evenly, however many callers ask and however often", () => {
    const places: Place[] = [];
    const ask = (caller: string) => {
      const found = findPlace(
        places,
        { caller, group: "unknown" },
        { perGroup: 60, perCaller: 50 },
      );
      if (!found.ok) return;
      if (found.evicted !== undefined) places.splice(places.indexOf(found.evicted), 1);
      places.push({ caller, group: "unknown", use: "held" });
    };
    for (const caller of ["a", "b", "c"]) for (let count = 0; count < 100; count += 1) ask(caller);
    const count = (of: string) => places.filter(({ caller }) => caller === of).length;
    expect(["a", "b", "c"].map(count)).toEqual([20, 20, 20]);
  });
});
