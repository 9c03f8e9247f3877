import { describe, expect, test } from "vitest";
import { getLineWidth, getUsedCredit } from "./peer-figures.ts";

describe("the line to a peer on the map", () => {
  test.each([
    ["is thinnest without a task", 0, 0, 1],
    ["is thinnest without a task beside a busy one", 0, 900, 1],
    ["is thickest to the only busy peer", 1, 1, 8],
    ["is thickest to the busiest peer", 900, 900, 8],
    ["is half as much thicker at half of the traffic", 450, 900, 5],
    ["can be told from none with one task of very many", 1, 1_000_000, 2],
  ])("the line to a peer on the map %s", (_, tasks, most, width) => {
    expect(getLineWidth(tasks, most)).toBeCloseTo(width, 4);
  });
});

describe("the used part of a credit limit of 10", () => {
  test.each([
    ["nothing", { position: 0, reserved: 0 }, 0],
    ["a debt of ours", { position: 5, reserved: 0 }, 0.5],
    ["a debt of ours that open tasks may double", { position: 2, reserved: 2 }, 0.4],
    ["only open tasks", { position: 0, reserved: 3 }, 0.3],
    ["a debt of the peer", { position: -5, reserved: 0 }, 0.5],
    [
      "a debt of the peer, less than which open tasks take back",
      { position: -5, reserved: 3 },
      0.5,
    ],
    [
      "a debt of the peer, more than which open tasks take back",
      { position: -2, reserved: 9 },
      0.7,
    ],
    ["unanswered results", { position: 0, reserved: 0, undecided: 1 }, 0.1],
    [
      "refused results up to the limit, all of which are forgiven",
      { position: 0, reserved: 0, refused: 10 },
      0,
    ],
    ["refused results beyond the limit", { position: 0, reserved: 0, refused: 13 }, 0.3],
    ["defaults", { position: 0, reserved: 0, defaulted: 1 }, 0.1],
    ["a debt of the peer and defaults", { position: -2, reserved: 0, defaulted: 1 }, 0.3],
    ["defaults that our debt covers", { position: 4, reserved: 0, defaulted: 1 }, 0.4],
    ["more than all of it", { position: 12, reserved: 0 }, 1],
  ])("a credit limit of 10 is used by %s", (_, credit, used) => {
    expect(getUsedCredit({ ...credit, credit_limit: 10 })).toBeCloseTo(used, 6);
  });

  test.each([
    ["unused", 0, 0],
    ["used in full by any debt", 0.000001, 1],
  ])("a credit limit of 0 is %s", (_, position, used) => {
    expect(getUsedCredit({ position, reserved: 0, credit_limit: 0 })).toBe(used);
  });
});
