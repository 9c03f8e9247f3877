import { Adjacency } from "./adjacency.ts";
import { NONE } from "./edge-index.ts";
import type { EdgeAttributes } from "../semiring.ts";

/** One directed hop between two ids, with what passing it adds. */
export interface Edge extends EdgeAttributes {
  readonly from: string;
  readonly to: string;
}

export type EdgeCode =
  | "edge.id_empty"
  | "edge.trust_invalid"
  | "edge.cost_invalid"
  | "edge.latency_invalid"
  | "edge.reliability_invalid";

export type EdgeResult = { ok: true } | { ok: false; code: EdgeCode };

const MAX_SUMMAND = 1e9;

function isRatio(value: number): boolean {
  return value >= 0 && value <= 1;
}

function isSummand(value: number): boolean {
  return value >= 0 && value <= MAX_SUMMAND;
}

function findEdgeFault(from: string, to: string, edge: EdgeAttributes): EdgeCode | null {
  if (from === "" || to === "") return "edge.id_empty";
  if (!isRatio(edge.trust)) return "edge.trust_invalid";
  if (!isSummand(edge.cost)) return "edge.cost_invalid";
  if (!isSummand(edge.latency)) return "edge.latency_invalid";
  if (!isRatio(edge.reliability)) return "edge.reliability_invalid";
  return null;
}

/** A directed graph of agents and relays, kept between requests and changed edge by edge. */
export class Graph {
  readonly #ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #adjacency = new Adjacency();

  /** A graph of many edges at once; the first one that `addEdge` refuses refuses the whole. */
  static from(
    edges: Iterable<Edge>,
  ): { ok: true; graph: Graph } | { ok: false; code: EdgeCode; detail: string } {
    const graph = new Graph();
    for (const edge of edges) {
      const added = graph.addEdge(edge.from, edge.to, edge);
      if (!added.ok) return { ...added, detail: `${edge.from} -> ${edge.to}` };
    }
    return { ok: true, graph };
  }

  /**
   * Adds the hop `from -> to`, or replaces its figures. Trust and reliability are in 0..1, cost
   * (currency units) and latency (ms) in 0..1e9; anything else, NaN included, is refused
   * (`edge.trust_invalid` and so on) and changes nothing. No route takes a hop of trust 0.
   */
  addEdge(from: string, to: string, figures: EdgeAttributes): EdgeResult {
    const code = findEdgeFault(from, to, figures);
    if (code !== null) return { ok: false, code };
    this.#adjacency.set(this.#addNode(from), this.#addNode(to), figures);
    return { ok: true };
  }

  /** Every hop once; `Graph.from` of them is this graph again. */
  edges(): Edge[] {
    const { edges } = this.#adjacency;
    return Array.from({ length: edges.length }, (_, edge) => ({
      from: this.#ids[edges.from[edge]!]!,
      to: this.#ids[edges.to[edge]!]!,
      ...edges.read(edge),
    }));
  }

  /** What the hop `from -> to` adds; undefined when there is none. */
  getAttributes(from: string, to: string): EdgeAttributes | undefined {
    const [source, target] = [this.findNode(from), this.findNode(to)];
    return source === NONE || target === NONE ? undefined : this.#adjacency.read(source, target);
  }

  /** The ids by the numbers that searches work on. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The number of an id, or -1. */
  findNode(id: string): number {
    return this.#numbers.get(id) ?? NONE;
  }

  /** The edges by numbers, ready for a search. */
  getAdjacency(): Adjacency {
    this.#adjacency.group();
    return this.#adjacency;
  }

  #addNode(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const node = this.#ids.push(id) - 1;
    this.#numbers.set(id, node);
    this.#adjacency.addNode();
    return node;
  }
}
