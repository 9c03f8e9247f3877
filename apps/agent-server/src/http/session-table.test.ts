import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import type { PlaceHolder } from "../policy/place-holder.ts";
import { createInFlightRequests } from "./fast-path/in-flight-requests.ts";
import { createSessionTable, type Session } from "./session-table.ts";

const limits = { idleMs: 1_000, perGroup: 3, perCaller: 2 };

const holderOf = (caller: string): PlaceHolder => ({
  caller,
  group: caller === "owner" ? "owner" : "unknown",
});

function newTable() {
  const clock = createManualClock();
  const table = createSessionTable(limits, { ...clock, log: () => {} });
  const closed: string[] = [];
  function open(sessionId: string, caller: string, change: Partial<Session> = {}): Session {
    const transport = {
      sessionId,
      handleRequest: async () => new Response(),
      close: async () => void closed.push(sessionId),
    };
    const use = { lastUsedAt: clock.now(), openStreams: 0 };
    const holder = holderOf(caller);
    const session = { transport, holder, inFlight: createInFlightRequests(), ...use, ...change };
    table.set(sessionId, session);
    return session;
  }
  return { clock, table, closed, open };
}

test("a caller at its limit loses its own oldest idle session", async () => {
  const { clock, table, closed, open } = newTable();
  open("other", "b");
  await clock.advance(1);
  open("first", "a").inFlight.add([1]);
  open("second", "a");
  expect(table.makeRoom(holderOf("a"))).toBe(true);
  expect(closed).toEqual(["second"]);
});

test("a caller's idle sessions give way to callers with fewer, and busy ones do not", () => {
  const { table, closed, open } = newTable();
  open("busy", "a").inFlight.add([1]);
  open("idle", "a");
  open("other", "b");
  expect(table.makeRoom(holderOf("c"))).toBe(true);
  open("new", "c");
  expect(table.makeRoom(holderOf("d"))).toBe(false);
  expect([closed, table.size]).toEqual([["idle"], 3]);
});

test("strangers cannot use up the sessions of the owner", () => {
  const { table, closed, open } = newTable();
  for (const caller of ["a", "b", "c"]) open(caller, caller).inFlight.add([1]);
  expect(table.makeRoom(holderOf("d"))).toBe(false);
  expect(table.makeRoom(holderOf("owner"))).toBe(true);
  expect(closed).toEqual([]);
});

test("a caller whose sessions are all busy gets no new one, and other callers keep theirs", () => {
  const { table, closed, open } = newTable();
  open("other", "b");
  open("first", "a").inFlight.add([1]);
  open("second", "a").inFlight.add([1]);
  expect(table.makeRoom(holderOf("a"))).toBe(false);
  expect(table.makeRoom(holderOf("c"))).toBe(false);
  expect([closed, table.size]).toEqual([[], 3]);
});

test("idle sessions are closed, those with a request or a stream stay open", async () => {
  const { clock, table, closed, open } = newTable();
  open("idle", "a");
  open("busy", "b").inFlight.add([1]);
  open("streaming", "c", { openStreams: 1 });
  await clock.advance(1_500);
  expect(closed).toEqual(["idle"]);
  expect(table.get("idle")).toBeUndefined();
  expect(table.size).toBe(2);
});

test("a closed session table has no session and sets no timer", async () => {
  const { clock, table, closed, open } = newTable();
  open("one", "a");
  await table.close();
  expect([closed, table.size, clock.pending()]).toEqual([["one"], 0, []]);
});
