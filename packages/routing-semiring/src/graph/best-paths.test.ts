import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findBestPath } from "./best-paths.ts";
import { type Edge, Graph } from "./graph.ts";
import { findRoutes } from "./routes.ts";
import {
  compareRoutes,
  costSemiring,
  latencySemiring,
  routeSemiring,
  reliabilitySemiring,
  type Semiring,
  trustSemiring,
} from "../semiring.ts";

const graphOf = (edges: Edge[]): Graph => {
  const built = Graph.from(edges);
  if (!built.ok) throw new Error(built.code);
  return built.graph;
};

const hop = (from: string, to: string, figures: Partial<Edge> = {}): Edge => ({
  trust: 0.9,
  cost: 0,
  latency: 0,
  reliability: 1,
  ...figures,
  from,
  to,
});

/** Computes the value of one path from its edges alone. */
const along = <T>(
  graph: Graph,
  { one, times, fromEdge: of }: Semiring<T>,
  path: readonly string[],
): T => {
  const edges = new Map(graph.edges().map((edge) => [`${edge.from} ${edge.to}`, edge]));
  return path
    .slice(1)
    .map((to, index) => edges.get(`${path[index]} ${to}`)!)
    .reduce((value, edge) => times(value, of(edge)), one);
};

/** Yields every path without a loop, by exhaustive search. */
const allPaths = (graph: Graph, from: string, to: string): string[][] => {
  const edges = graph.edges();
  const walk = (path: string[]): string[][] => {
    const at = path.at(-1);
    if (at === to) return [path];
    return edges
      .filter((edge) => edge.from === at && !path.includes(edge.to))
      .flatMap((edge) => walk([...path, edge.to]));
  };
  return walk([from]);
};

const byIds = (a: string[], b: string[]): number => (a.join(" ") < b.join(" ") ? -1 : 1);

const ids = ["a", "b", "c", "d", "e", "f"];
const figures = {
  trust: fc.constantFrom(0, 0.3, 0.6, 0.8, 0.9, 1),
  cost: fc.constantFrom(0, 0.1, 0.2, 0.3, 1),
  latency: fc.constantFrom(0, 10, 20),
  reliability: fc.constantFrom(0, 0.5, 0.9, 1),
};
const edgesAmong = (nodes: string[], size: { minLength: number; maxLength: number }) =>
  fc.array(
    fc.record({ from: fc.constantFrom(...nodes), to: fc.constantFrom(...nodes), ...figures }),
    size,
  );
const fewEdges = edgesAmong(ids, { minLength: 1, maxLength: 18 });

describe("findBestPath compared with all paths", () => {
  test.each([
    ["the highest trust", trustSemiring],
    ["the highest reliability", reliabilitySemiring],
    ["the lowest cost", costSemiring],
    ["the lowest latency", latencySemiring],
  ])("findBestPath returns the path with %s and the value of this path", (_, semiring) => {
    fc.assert(
      fc.property(fewEdges, (edges) => {
        const graph = graphOf(edges);
        const best = allPaths(graph, "a", "f")
          .map((path) => along(graph, semiring, path))
          .reduce(semiring.plus, semiring.zero);
        const found = findBestPath(graph, semiring, "a", "f");
        expect(semiring.equal(found?.value ?? semiring.zero, best)).toBe(true);
        expect(found?.value).toBe(found === null ? undefined : along(graph, semiring, found.path));
      }),
      { numRuns: 300 },
    );
  });

  test("the best route has the highest trust; ties: hops, cost, latency, reliability, ids", () => {
    fc.assert(
      fc.property(fewEdges, (edges) => {
        const graph = graphOf(edges);
        const [best] = allPaths(graph, "a", "f")
          .map((path) => ({ path, value: along(graph, routeSemiring, path) }))
          .filter(({ value }) => value.trust > 0)
          .sort((a, b) => compareRoutes(a.value, b.value) || byIds(a.path, b.path));
        expect(findBestPath(graph, routeSemiring, "a", "f")).toEqual(best ?? null);
      }),
      { numRuns: 500 },
    );
  });
});

test("findRoutes finds the routes that findBestPath finds for each target", () => {
  const many = Array.from({ length: 60 }, (_, index) => `n${index}`);
  fc.assert(
    fc.property(edgesAmong(many, { minLength: 100, maxLength: 400 }), (edges) => {
      const graph = graphOf(edges);
      const routes = findRoutes(graph, "n0");
      for (const id of many) {
        const found = findBestPath(graph, routeSemiring, "n0", id);
        const expected = found && { agent_id: id, ...found.value, path: found.path };
        expect(routes.get(id)).toEqual(expected);
      }
    }),
    { numRuns: 40 },
  );
});

test("findRoutes with avoided ids finds the routes of a graph without them", () => {
  fc.assert(
    fc.property(fewEdges, fc.subarray([...ids.slice(1), "unknown"]), (edges, avoided) => {
      const left = edges.filter(({ from, to }) => !avoided.includes(from) && !avoided.includes(to));
      const [routes, expected] = [
        findRoutes(graphOf(edges), "a", avoided),
        findRoutes(graphOf(left), "a"),
      ];
      for (const id of ids.slice(1)) expect(routes.get(id)).toEqual(expected.get(id));
    }),
    { numRuns: 500 },
  );
});

describe("a route", () => {
  test("a route has the attributes of one path and never the best of several", () => {
    const graph = graphOf([
      hop("self", "safe", { trust: 0.9, cost: 5, latency: 500, reliability: 0.5 }),
      hop("safe", "x", { trust: 0.9, cost: 5, latency: 500, reliability: 0.5 }),
      hop("self", "cheap", { trust: 0.3, cost: 0, latency: 1, reliability: 1 }),
      hop("cheap", "x", { trust: 0.3, cost: 0, latency: 1, reliability: 1 }),
    ]);
    expect(findBestPath(graph, routeSemiring, "self", "x")).toEqual({
      path: ["self", "safe", "x"],
      value: { trust: 0.9 * 0.9, cost: 10, latency: 1000, reliability: 0.25, hops: 2 },
    });
  });

  test("a route across relays multiplies trust and adds cost and latency", () => {
    const graph = graphOf([
      hop("self", "relay:local", { trust: 1 }),
      hop("relay:local", "relay:remote", { trust: 0.6, cost: 0.05, latency: 40 }),
      hop("relay:remote", "target", { trust: 0.9, cost: 0.1, latency: 60, reliability: 0.8 }),
    ]);
    const { value } = findBestPath(graph, routeSemiring, "self", "target")!;
    expect(value.trust).toBeCloseTo(0.54, 12);
    expect(value.cost).toBeCloseTo(0.15, 12);
    expect(value).toMatchObject({ latency: 100, reliability: 0.8, hops: 3 });
  });

  test("a route is never trusted more than any of its hops", () => {
    fc.assert(
      fc.property(fewEdges, (edges) => {
        const trusts = new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge.trust]));
        for (const { path, trust: whole } of findRoutes(graphOf(edges), "a").list()) {
          const hops = path.slice(1).map((to, index) => trusts.get(`${path[index]} ${to}`)!);
          expect(whole).toBeLessThanOrEqual(Math.min(...hops));
        }
      }),
    );
  });

  test("the route with fewer hops is best when trust ties, although floats differ", () => {
    const graph = graphOf([
      hop("self", "x", { trust: 0.72 }),
      hop("self", "y", { trust: 0.9 }),
      hop("y", "x", { trust: 0.8 }),
    ]);
    expect(findBestPath(graph, trustSemiring, "self", "x")?.path).toEqual(["self", "x"]);
    expect(findRoutes(graph, "self").get("x")?.path).toEqual(["self", "x"]);
  });

  test("the route with lower cost, then smaller ids, is best when trust and hops tie", () => {
    const edges = [hop("self", "b"), hop("b", "x"), hop("self", "c"), hop("c", "x")];
    expect(findBestPath(graphOf(edges), trustSemiring, "self", "x")?.path).toEqual([
      "self",
      "b",
      "x",
    ]);
    const dear = graphOf([...edges, hop("b", "x", { cost: 0.01 })]);
    expect(findBestPath(dear, trustSemiring, "self", "x")?.path).toEqual(["self", "c", "x"]);
  });

  test("smaller ids are compared from the start of a route", () => {
    const graph = graphOf([
      hop("self", "a"),
      hop("a", "z"),
      hop("z", "x"),
      hop("self", "b"),
      hop("b", "c"),
      hop("c", "x"),
    ]);
    expect(findRoutes(graph, "self").get("x")?.path).toEqual(["self", "a", "z", "x"]);
  });
});

describe("no route", () => {
  const graph = graphOf([hop("self", "a", { trust: 0 }), hop("a", "b"), hop("b", "self")]);

  test.each([
    ["over a hop without trust", "self", "b"],
    ["to an unknown id", "self", "unknown"],
    ["from an unknown id", "unknown", "a"],
  ])("no route leads %s", (_, from, to) => {
    expect(findBestPath(graph, routeSemiring, from, to)).toBeNull();
    expect(findBestPath(graph, trustSemiring, from, to)).toBeNull();
    expect(findRoutes(graph, from).get(to)).toBeNull();
  });

  test("the cost semiring finds a route without trust", () => {
    expect(findBestPath(graph, costSemiring, "self", "b")?.path).toEqual(["self", "a", "b"]);
  });

  test("the route from a node to itself is empty", () => {
    expect(findBestPath(graph, routeSemiring, "a", "a")).toEqual({
      path: ["a"],
      value: routeSemiring.one,
    });
    const reached = findRoutes(graph, "a")
      .list()
      .map(({ agent_id }) => agent_id);
    expect(reached.sort()).toEqual(["b", "self"]);
  });
});
