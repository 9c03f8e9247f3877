import type { Routes } from "@agent/routing-semiring";

/** Searches are kept for at most so many asking agents, and for so many nodes of the graph in total. */
const MAX_SEARCHES = 16;
const MAX_NODES = 1_000_000;

/**
 * A cache of the routes from the agents that asked most recently. Most agents ask repeatedly, and most task
 * results change no trust level, so the same search would be repeated.
 */
export class KeptRoutes {
  /** The search that was used last is the last one. */
  readonly #searches = new Map<string, Routes>();

  /** Returns the search from an id in a graph of `nodes` nodes: a kept one, or that of `create`. */
  get(from: string, nodes: number, create: () => Routes): Routes {
    const routes = this.#searches.get(from) ?? create();
    this.#searches.delete(from);
    this.#searches.set(from, routes);
    const limit = Math.min(MAX_SEARCHES, Math.max(1, Math.floor(MAX_NODES / nodes)));
    for (const id of this.#searches.keys()) {
      if (this.#searches.size <= limit) break;
      this.#searches.delete(id);
    }
    return routes;
  }

  /** Called after each change of the graph or of the avoided agents. */
  clear(): void {
    this.#searches.clear();
  }
}
