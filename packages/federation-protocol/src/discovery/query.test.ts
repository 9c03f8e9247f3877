import { describe, expect, it } from "vitest";
import { alpha, beta, gamma, TASK } from "../../test/messages.ts";
import type { Discovery } from "../messages/discovery.ts";
import { ReplayCache } from "../replay-cache.ts";
import { createQuery, listUnvisitedPeers, planQuery } from "./query.ts";

const begun = createQuery({ capability: "sum" }, { self: alpha.id, queryId: TASK });
const context = { self: beta.id, isNew: true };

it("a new query is at hop 0 with its own relay visited and at most 3 hops", () => {
  expect(begun).toEqual({
    capability: "sum",
    hop_count: 0,
    max_hops: 3,
    visited: [alpha.id],
    query_id: TASK,
    origin_relay: alpha.id,
  });
  expect(createQuery({}, { self: alpha.id, queryId: TASK, maxHops: 99 }).max_hops).toBe(3);
});

describe("A peer's query (F11)", () => {
  it("a peer's query is searched and forwarded with one hop more and this relay visited", () => {
    const { isSearched: search, query, forwardedQuery: pass } = planQuery(begun, context);
    expect(search).toBe(true);
    expect(query).toEqual({ capability: "sum", limit: 200 });
    expect(pass).toEqual({
      ...begun,
      limit: 200,
      hop_count: 1,
      visited: [alpha.id, beta.id],
    });
  });

  it.each<[string, Partial<Discovery>, Partial<typeof context>]>([
    ["if it has visited this relay", { visited: [alpha.id, beta.id] }, {}],
    ["if its hops are used up", { hop_count: 3 }, {}],
    ["if it claims a higher maximum", { hop_count: 3, max_hops: 99 }, {}],
    ["if it allows no hops", { max_hops: 0 }, {}],
    ["if it was processed before", {}, { isNew: false }],
  ])("a peer's query is not forwarded %s", (_, change, known) => {
    expect(planQuery({ ...begun, ...change }, { ...context, ...known }).forwardedQuery).toBeNull();
  });

  it("a peer's query has an empty answer if it was processed before", () => {
    expect(planQuery(begun, { ...context, isNew: false }).isSearched).toBe(false);
  });

  it("a peer's query without an origin is forwarded with the first relay that it visited as its origin", () => {
    const { origin_relay: _, ...plain } = begun;
    const forwardedOrigin = (query: Discovery) =>
      planQuery(query, context).forwardedQuery?.origin_relay;
    expect(forwardedOrigin(plain)).toBe(alpha.id);
    expect(forwardedOrigin({ ...plain, visited: [] })).toBe(beta.id);
    expect(forwardedOrigin({ ...begun, visited: [gamma.id] })).toBe(alpha.id);
  });

  it("a peer's query may have its members in a nested query, without unknown ones", () => {
    const { capability: _, ...plain } = begun;
    const nested = { ...plain, query: { q: "x", limit: 5 }, extra: "prompt" } as Discovery;
    expect(planQuery(nested, context).forwardedQuery).toEqual({
      ...plain,
      q: "x",
      limit: 5,
      hop_count: 1,
      visited: [alpha.id, beta.id],
    });
  });

  it.each([
    [0, 1],
    [5, 5],
    [100_000, 200],
  ])("a query with the limit %s has an answer of at most %s entries", (limit, most) => {
    expect(planQuery({ ...begun, limit }, context).query.limit).toBe(most);
  });
});

it("three relays in a ring forward a query at most once each (F11)", () => {
  const ring = [alpha, beta, gamma].map(({ id }) => id);
  const seen = new Map(ring.map((id) => [id, new ReplayCache(30_000)]));
  const passed: string[] = [];
  seen.get(alpha.id)?.add(TASK, 0);
  let waiting: [from: string, message: Discovery][] = [[alpha.id, begun]];
  while (waiting.length > 0) {
    waiting = waiting.flatMap(([from, message]) => {
      passed.push(from);
      const asked = listUnvisitedPeers(
        ring.filter((id) => id !== from),
        message,
      );
      return asked.flatMap((self): [string, Discovery][] => {
        const isNew = seen.get(self)?.add(message.query_id, 0) ?? false;
        const { forwardedQuery: pass } = planQuery(message, { self, isNew });
        return pass === null ? [] : [[self, pass]];
      });
    });
  }
  expect(passed.toSorted()).toEqual(ring.toSorted());
});
