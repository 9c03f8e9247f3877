import { Adjacency } from "./adjacency.ts";
import { NONE } from "./edge-index.ts";
import type { EdgeAttributes } from "../semiring.ts";

/** One directed hop between two ids with its attributes. */
export interface Edge extends EdgeAttributes {
  readonly from: string;
  readonly to: string;
}

/** The codes with which an edge is refused. */
export type EdgeCode =
  | "edge.id_empty"
  | "edge.trust_invalid"
  | "edge.cost_invalid"
  | "edge.latency_invalid"
  | "edge.reliability_invalid";

/** Whether an edge was added, or the code of its refusal. */
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

/** A directed graph of agents and relays, reused between requests and updated edge by edge. */
export class Graph {
  readonly #ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #adjacency = new Adjacency();

  /** Builds a graph from many edges; refused with the code of the first edge that `addEdge` refuses. */
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
   * Adds the hop `from -> to` or replaces its attributes. Trust and reliability must be in 0..1, cost
   * (currency units) and latency (ms) in 0..1e9. Other values, including NaN, are refused with codes such
   * as `edge.trust_invalid` and change nothing. A route never contains a hop of trust 0.
   */
  addEdge(from: string, to: string, figures: EdgeAttributes): EdgeResult {
    const code = findEdgeFault(from, to, figures);
    if (code !== null) return { ok: false, code };
    this.#adjacency.set(this.#addNode(from), this.#addNode(to), figures);
    return { ok: true };
  }

  /** Lists all hops, from which `Graph.from` builds an equal graph. */
  edges(): Edge[] {
    const { edges } = this.#adjacency;
    return Array.from({ length: edges.length }, (_, edge) => ({
      from: this.#ids[edges.from[edge]!]!,
      to: this.#ids[edges.to[edge]!]!,
      ...edges.read(edge),
    }));
  }

  /** Returns the attributes of the hop `from -> to`; undefined if there is none. */
  getAttributes(from: string, to: string): EdgeAttributes | undefined {
    const [source, target] = [this.findNode(from), this.findNode(to)];
    return source === NONE || target === NONE ? undefined : this.#adjacency.read(source, target);
  }

  /** The ids, indexed by the node numbers of searches. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** Returns the node number of an id, or -1. */
  findNode(id: string): number {
    return this.#numbers.get(id) ?? NONE;
  }

  /** Returns the edges by node numbers, grouped for a search. */
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
