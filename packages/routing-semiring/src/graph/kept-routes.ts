import type { Graph } from "./graph.ts";
import { Routes } from "./routes.ts";

/** Searches are kept for at most so many ids, and for so many nodes of the graph in total. */
const MAX_SEARCHES = 16;
const MAX_NODES = 1_000_000;

interface KeptSearch {
  readonly avoided: readonly string[];
  readonly routes: Routes;
}

/**
 * The searches of the ids that asked last. Most asking agents ask repeatedly, and most results of tasks
 * change no trust level, so that the same search would be repeated.
 */
export class KeptRoutes {
  /** The search that was used last is the last one. */
  readonly #searches = new Map<string, KeptSearch>();

  /** Returns the search from an id, which may be complete already. */
  get(graph: Graph, from: string, avoided: readonly string[]): Routes {
    const known = this.#searches.get(from);
    const search =
      known !== undefined && isEqual(known.avoided, avoided)
        ? known
        : { avoided, routes: new Routes(graph, from, avoided) };
    this.#searches.delete(from);
    this.#searches.set(from, search);
    const limit = Math.min(MAX_SEARCHES, Math.max(1, Math.floor(MAX_NODES / graph.ids.length)));
    for (const id of this.#searches.keys()) {
      if (this.#searches.size <= limit) break;
      this.#searches.delete(id);
    }
    return search.routes;
  }

  /** Called when the graph has changed, after which other routes may be better. */
  clear(): void {
    this.#searches.clear();
  }
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
