import { expect, test } from "vitest";
import { Graph, Routes } from "@agent/routing-semiring";
import { KeptRoutes } from "./kept-routes.ts";

const graph = new Graph();
const create = () => new Routes(graph, "a");

test("the routes from the last 16 agents that asked for them are kept", () => {
  const kept = new KeptRoutes();
  const routes = kept.get("a", 10, create);
  for (let asker = 1; asker < 16; asker += 1) kept.get(`asker ${asker}`, 10, create);
  expect(kept.get("a", 10, create)).toBe(routes);
  for (let asker = 1; asker <= 16; asker += 1) kept.get(`asker ${asker}`, 10, create);
  expect(kept.get("a", 10, create)).not.toBe(routes);
});

test.each([
  [62_500, 16],
  [62_501, 15],
  [500_000, 2],
  [500_001, 1],
  [10_000_000, 1],
])("in a graph of %i nodes the routes from %i agents are kept", (nodes, count) => {
  const kept = new KeptRoutes();
  const before = Array.from({ length: count + 1 }, (_, asker) =>
    kept.get(`${asker}`, nodes, create),
  );
  for (let asker = count; asker > 0; asker -= 1) {
    expect(kept.get(`${asker}`, nodes, create)).toBe(before[asker]);
  }
  expect(kept.get("0", nodes, create)).not.toBe(before[0]);
});

test("no routes are kept after a change", () => {
  const kept = new KeptRoutes();
  const routes = kept.get("a", 10, create);
  kept.clear();
  expect(kept.get("a", 10, create)).not.toBe(routes);
});
