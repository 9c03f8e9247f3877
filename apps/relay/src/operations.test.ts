import { peerOperations } from "@agent/federation-protocol/http";
import {
  errors,
  listImpliedRefusals,
  operations as clientOperations,
  witnessOperations,
  type Operation,
} from "@agent/wire";
import { FEDERATION_PREFIX } from "@agent/wire/engine";
import { expect, test } from "vitest";
import { operations } from "./operations.ts";

const rows: readonly [string, Operation][] = Object.entries(operations);

test("the relay's contract holds every operation of clients, logs and relays under its own name", () => {
  const names = [clientOperations, witnessOperations, peerOperations].flatMap(Object.keys);
  expect(Object.keys(operations)).toEqual(names);
});

test("the relay's contract has each method of a path once", () => {
  const places = rows.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

test("only operations between relays are served under the federation prefix", () => {
  const names = rows.filter(([, { path }]) => path.startsWith(FEDERATION_PREFIX));
  expect(names.map(([name]) => name)).toEqual(Object.keys(peerOperations));
});

test("the table of errors holds exactly the codes that the relay answers", () => {
  const answered = rows.flatMap(([, row]) => [...row.refusals, ...listImpliedRefusals(row)]);
  // Answered where there is no operation.
  const elsewhere = ["route.method_not_allowed", "console.not_built"];
  expect(new Set(Object.keys(errors))).toEqual(new Set([...answered, ...elsewhere]));
});
