import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rank } from "../ranking/rank.ts";
import { Graph } from "./graph.ts";

const hop = { trust: 0.9, cost: 0, latency: 0, reliability: 1 };

function createGraph(): Graph {
  const graph = new Graph();
  graph.addEdge("a", "b", hop);
  graph.addEdge("b", "c", hop);
  return graph;
}

describe("the search from an id", () => {
  test("it is kept while the graph has the same edges", () => {
    const graph = createGraph();
    const search = graph.searchRoutes("a");
    expect(graph.searchRoutes("a")).toBe(search);
    expect(graph.addEdge("b", "c", { ...hop }).ok).toBe(true);
    expect(graph.addEdge("b", "c", { ...hop, trust: 2 }).ok).toBe(false);
    expect(graph.searchRoutes("a")).toBe(search);
  });

  test.each<[string, (graph: Graph) => void]>([
    ["another trust", (graph) => graph.addEdge("b", "c", { ...hop, trust: 0.5 })],
    ["another cost", (graph) => graph.addEdge("b", "c", { ...hop, cost: 1 })],
    ["another latency", (graph) => graph.addEdge("b", "c", { ...hop, latency: 1 })],
    ["another reliability", (graph) => graph.addEdge("b", "c", { ...hop, reliability: 0.5 })],
    ["a new edge between known ids", (graph) => graph.addEdge("a", "c", hop)],
    ["a new id", (graph) => graph.addEdge("c", "d", hop)],
  ])("it is made anew after %s", (_, change) => {
    const graph = createGraph();
    const search = graph.searchRoutes("a");
    change(graph);
    expect(graph.searchRoutes("a")).not.toBe(search);
  });

  test("it is made anew with other avoided ids", () => {
    const graph = createGraph();
    const search = graph.searchRoutes("a", []);
    const avoiding = graph.searchRoutes("a", ["b"]);
    expect(avoiding).not.toBe(search);
    expect(graph.searchRoutes("a", ["b"])).toBe(avoiding);
    expect(graph.searchRoutes("a", ["c"])).not.toBe(avoiding);
  });

  test("it is kept for the 16 ids that asked last", () => {
    const graph = createGraph();
    const search = graph.searchRoutes("a");
    for (let asker = 1; asker < 16; asker += 1) graph.searchRoutes(`asker ${asker}`);
    expect(graph.searchRoutes("a")).toBe(search);
    for (let asker = 1; asker <= 16; asker += 1) graph.searchRoutes(`asker ${asker}`);
    expect(graph.searchRoutes("a")).not.toBe(search);
  });

  test("of a great graph fewer searches are kept, of a million nodes in total", () => {
    const graph = new Graph();
    for (let node = 1; node < 300_000; node += 1) graph.addEdge("a", `n${node}`, hop);
    const searches = ["a", "n1", "n2", "n3"].map((from) => graph.searchRoutes(from));
    expect(["n1", "n2", "n3"].map((from) => graph.searchRoutes(from))).toEqual(searches.slice(1));
    expect(graph.searchRoutes("n1")).toBe(searches[1]);
    expect(graph.searchRoutes("a")).not.toBe(searches[0]);
  });
});

const id = fc.integer({ min: 0, max: 12 }).map((number) => `n${number}`);
const change = fc.record({
  from: id,
  to: id,
  trust: fc.constantFrom(0, 0.3, 0.9),
  cost: fc.constantFrom(0, 1),
  latency: fc.constant(0),
  reliability: fc.constantFrom(0.5, 1),
});
const question = fc.record({ from: id, avoided: fc.uniqueArray(id, { maxLength: 2 }) });

test("a graph that was asked before ranks as a new one with the same edges", () => {
  const candidates = Array.from({ length: 13 }, (_, number) => ({
    agent_id: `n${number}`,
    capabilities: ["x"],
    unit_cost: 1 + (number % 3),
    trust_score: 0.3,
    successes: number,
    counted: 12,
    avg_latency_ms: 100,
    listing_latency_ms: null,
    online: true,
    availability_guarantee: 0.9,
    blocked: false,
  }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(change, question), { minLength: 1, maxLength: 60 }),
      (operations) => {
        const graph = new Graph();
        for (const operation of operations) {
          if ("to" in operation) {
            graph.addEdge(operation.from, operation.to, operation);
            continue;
          }
          const built = Graph.from(graph.edges());
          if (!built.ok) throw new Error(built.detail);
          expect(rank(candidates, { ...operation, graph })).toEqual(
            rank(candidates, { ...operation, graph: built.graph }),
          );
        }
      },
    ),
    { numRuns: 200 },
  );
});
