import type { Operations } from "@agent/wire";
import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { buildPath, buildUrl, type CallRequest } from "./call-request.ts";
import { createRelayClient } from "../relay-client.ts";

test("every path parameter is transmitted unchanged as one segment or refused", () => {
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

test("every query parameter is transmitted unchanged", () => {
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

test("a missing path parameter is refused", () => {
  expect(buildPath("/agent/:agentId/task", {})).toBeNull();
});

test("the type of a request requires exactly the required input of its operation", () => {
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
