import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Graph, type Edge } from "./graph.ts";
import { findRoutes } from "./routes.ts";

const good = { trust: 0.5, cost: 1, latency: 10, reliability: 1 };

describe("a refused edge", () => {
  test.each([
    ["edge.trust_invalid", "trust", [NaN, -0.1, 1.1, Infinity]],
    ["edge.reliability_invalid", "reliability", [NaN, -0.1, 1.1, Infinity]],
    ["edge.cost_invalid", "cost", [NaN, -1, 1e9 + 1, Infinity]],
    ["edge.latency_invalid", "latency", [NaN, -1, 1e9 + 1, Infinity]],
  ])("addEdge refuses an edge with %s and changes nothing", (code, figure, values) => {
    for (const value of values) {
      const graph = new Graph();
      expect(graph.addEdge("a", "b", { ...good, [figure]: value })).toEqual({ ok: false, code });
      expect(graph.edges()).toEqual([]);
      expect(graph.ids).toEqual([]);
    }
  });

  test.each([
    ["", "b"],
    ["a", ""],
  ])("addEdge refuses an edge without an id: %j -> %j", (from, to) => {
    expect(new Graph().addEdge(from, to, good)).toEqual({ ok: false, code: "edge.id_empty" });
  });

  test("Graph.from refuses all edges if one is invalid", () => {
    const bad = { from: "b", to: "c", ...good, trust: 2 };
    expect(Graph.from([{ from: "a", to: "b", ...good }, bad])).toEqual({
      ok: false,
      code: "edge.trust_invalid",
      detail: "b -> c",
    });
  });
});

describe("an accepted edge", () => {
  test.each([
    ["at the lower bounds", { trust: 0, cost: 0, latency: 0, reliability: 0 }],
    ["at the upper bounds", { trust: 1, cost: 1e9, latency: 1e9, reliability: 1 }],
  ])("addEdge accepts an edge %s", (_, figures) => {
    const graph = new Graph();
    expect(graph.addEdge("a", "b", figures)).toEqual({ ok: true });
    expect(graph.edges()).toEqual([{ from: "a", to: "b", ...figures }]);
  });

  test("addEdge replaces an edge between the same nodes", () => {
    const graph = new Graph();
    graph.addEdge("a", "b", { ...good, trust: 0.9 });
    graph.addEdge("a", "b", good);
    expect(graph.edges()).toEqual([{ from: "a", to: "b", ...good }]);
    expect(findRoutes(graph, "a").get("b")?.trust).toBe(0.5);
  });

  test("addEdge does not add the opposite direction", () => {
    const graph = new Graph();
    graph.addEdge("a", "b", good);
    expect(findRoutes(graph, "b").get("a")).toBeNull();
  });
});

const id = fc.integer({ min: 0, max: 30 }).map((number) => `n${number}`);
const edge: fc.Arbitrary<Edge> = fc.record({
  from: id,
  to: id,
  trust: fc.constantFrom(0, 0.1, 0.3, 0.6, 0.9, 1),
  cost: fc.constantFrom(0, 1, 2),
  latency: fc.constantFrom(0, 5),
  reliability: fc.constantFrom(0.5, 1),
});

test("a graph that changes between searches equals a graph of its current edges", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(edge, { minLength: 20, maxLength: 200 }), { minLength: 1, maxLength: 5 }),
      (batches) => {
        const grown = new Graph();
        const last = new Map<string, Edge>();
        for (const batch of batches) {
          for (const each of batch) {
            grown.addEdge(each.from, each.to, each);
            last.set(`${each.from} ${each.to}`, each);
          }
          findRoutes(grown, "n0");
        }
        const built = Graph.from(last.values());
        expect(built.ok && routesOf(built.graph)).toEqual(routesOf(grown));
        expect(sorted(grown.edges())).toEqual(sorted([...last.values()]));
      },
    ),
    { numRuns: 60 },
  );
});

const sorted = (edges: Edge[]) =>
  edges.toSorted((a, b) => (`${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1));

const routesOf = (graph: Graph) =>
  findRoutes(graph, "n0")
    .list()
    .sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
