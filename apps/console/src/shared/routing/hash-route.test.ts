import { expect, test } from "vitest";
import { formatHashRoute, parseHashRoute, pickFilters } from "./hash-route.ts";

test.each([
  ["", [], {}],
  ["#", [], {}],
  ["#/", [], {}],
  ["#/tasks", ["tasks"], {}],
  ["#/tasks/a%2Fb?failed=1&q=x%20y", ["tasks", "a/b"], { failed: "1", q: "x y" }],
  ["#tasks//x/", ["tasks", "x"], {}],
  ["#/a/%zz", ["a", "%zz"], {}],
])("the fragment %j is read as a route", (hash, path, query) => {
  const route = parseHashRoute(hash);
  expect(route.path).toEqual(path);
  expect(Object.fromEntries(route.query)).toEqual(query);
});

test("every route is written so that it is read as the same route", () => {
  const query = { q: "a&b=c?d#e", state: undefined, failed: "" };
  const written = formatHashRoute(["tasks", "relay:a/b?c#d"], query);
  const { path, query: read } = parseHashRoute(written);
  expect(path).toEqual(["tasks", "relay:a/b?c#d"]);
  expect(Object.fromEntries(read)).toEqual({ q: "a&b=c?d#e" });
});

test("the filters of a list are those of its names that the route sets", () => {
  const { query } = parseHashRoute("#/tasks?state=&q=x%20y&failed=1&other=2");
  expect(pickFilters(query, ["state", "failed", "q", "agent"])).toEqual({ failed: "1", q: "x y" });
});
