/** The relay's clock, which decides when tokens and sessions expire; the browser's clock may be wrong by minutes. */
export interface RelayClock {
  /** Works like `fetch`, and also reads the date of the answer. */
  readonly send: typeof fetch;
  /** Returns by how many ms the relay's clock is ahead of the browser's; 0 until an answer has a date. */
  readonly aheadMs: () => number;
}

export function createRelayClock(callRelay: typeof fetch, now: () => number): RelayClock {
  let aheadMs = 0;
  return {
    async send(input, init) {
      // A cached answer would have an old date.
      const answer = await callRelay(input, { ...init, cache: "no-store" });
      const at = Date.parse(answer.headers.get("date") ?? "");
      // The date omits fractions of a second; a second more ensures that no right seems to last too long.
      if (!Number.isNaN(at)) aheadMs = at + 1_000 - now();
      return answer;
    },
    aheadMs: () => aheadMs,
  };
}
