import type { Operations } from "@agent/wire";
import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { buildPath, buildUrl, type CallRequest } from "./call-request.ts";
import { createRelayClient } from "../relay-client.ts";

test("whatever a path parameter holds, it arrives as it is and as one segment, or is not sent", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (agentId) => {
      const path = buildPath("/agent/:agentId/task", { params: { agentId } });
      if (path === null) return ["", ".", ".."].includes(agentId) || !agentId.isWellFormed();
      const { pathname } = new URL(buildUrl("http://relay.example", path));
      const [, first, second = "", third, ...rest] = pathname.split("/");
      expect([first, decodeURIComponent(second), third, rest]).toEqual([
        "agent",
        agentId,
        "task",
        [],
      ]);
      return true;
    }),
    { examples: [["."], [".."], ["%2e%2e"], ["a/../b"], ["\\"], ["?"], ["#"], ["\ud800"]] },
  );
});

test("whatever a query member holds, it arrives as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (q, limit) => {
      const path = buildPath("/discover", { query: { q, limit, cursor: undefined } }) ?? "";
      const { searchParams } = new URL(buildUrl("http://relay.example", path));
      expect([...searchParams]).toEqual([
        ["q", q],
        ["limit", String(limit)],
      ]);
    }),
  );
});

test("a parameter that is missing is not sent as a name", () => {
  expect(buildPath("/agent/:agentId/task", {})).toBeNull();
});

test("a request is typed by its operation: what it needs is required, the rest may be left out", () => {
  expectTypeOf<CallRequest<Operations["getTask"]>["params"]>().toEqualTypeOf<
    { readonly agentId: string } & { readonly taskId: string }
  >();
  expectTypeOf<{ params: { agentId: string } }>().not.toExtend<
    CallRequest<Operations["submitTask"]>
  >();
  expectTypeOf<{ query: { limit: number } }>().toExtend<CallRequest<Operations["discover"]>>();
  expectTypeOf<{ query: { limit: boolean } }>().not.toExtend<CallRequest<Operations["discover"]>>();
  expectTypeOf<Record<never, never>>().not.toExtend<CallRequest<Operations["listCandidates"]>>();

  const client = createRelayClient({ baseUrl: "http://relay.example" });
  expectTypeOf(client.health).toBeCallableWith();
  expectTypeOf(client.discover).toBeCallableWith();
  expectTypeOf(client.getAgent).parameter(0).toExtend<{ params: { agentId: string } }>();
});
