import type { Reader } from "./storage.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** Yields to the event loop after each statement, because SQLite reads without a pause. */
export function createYieldingReader(read: Reader): Reader {
  return {
    async get(query, params) {
      const row = await read.get(query, params);
      await yieldToEventLoop();
      return row;
    },
    async all(query, params) {
      const rows = await read.all(query, params);
      await yieldToEventLoop();
      return rows;
    },
  };
}
