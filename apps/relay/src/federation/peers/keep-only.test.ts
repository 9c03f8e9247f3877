import { describe, expect, test } from "vitest";
import { keepOnly } from "./keep-only.ts";

describe("FE36: what a relay keeps in memory of its peers", () => {
  test.each([
    ["of live peers stays", ["a", "b"], ["a", "b"], ["a", "b"]],
    ["of removed peers is deleted", ["a", "b", "c"], ["b"], ["b"]],
    ["is added for no peer", ["a"], ["a", "b"], ["a"]],
    ["is deleted where no peer is left", ["a"], [], []],
  ])("FE36: what a relay keeps in memory %s", (_, known, live, expected) => {
    const peers = live.map((relay_id) => ({ relay_id }));
    const ids = new Set(known);
    const values = new Map(known.map((id) => [id, 1]));
    keepOnly(ids, peers);
    keepOnly(values, peers);
    expect([...ids]).toEqual(expected);
    expect([...values.keys()]).toEqual(expected);
  });
});
