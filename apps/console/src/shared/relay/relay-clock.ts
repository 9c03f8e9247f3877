/** The clock of the relay, which decides when tokens and sessions end; that of a browser may be wrong by minutes. */
export interface RelayClock {
  /** Calls as `fetch` does, and reads the date of the answer. */
  readonly send: typeof fetch;
  /** Returns by how many ms the relay's clock is ahead of this one; 0 until an answer has a date. */
  readonly aheadMs: () => number;
}

export function createRelayClock(callRelay: typeof fetch, now: () => number): RelayClock {
  let aheadMs = 0;
  return {
    async send(input, init) {
      // A kept answer has a date of the past.
      const answer = await callRelay(input, { ...init, cache: "no-store" });
      const at = Date.parse(answer.headers.get("date") ?? "");
      // The date leaves out parts of a second; with a whole one no right seems to last longer than it does.
      if (!Number.isNaN(at)) aheadMs = at + 1_000 - now();
      return answer;
    },
    aheadMs: () => aheadMs,
  };
}
