import { errors, listImpliedRefusals, type Code, type Issue, type Operation } from "@agent/wire";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { carrier, type Carrier } from "../carrier.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";
import { contract } from "./contract.ts";
import { impliedRefusalCases, openImpliedRelays, type ImpliedRelays } from "./implied.ts";
import type { Case } from "./outcome.ts";
import { operations, type OperationName } from "../../src/operations.ts";

export const operationNames = Object.keys(operations) as OperationName[];

export const getCases = (name: OperationName): Readonly<Record<string, Case>> => contract[name];

/** A case for each success that a row declares; requests go by `carry` if there is one. */
export function describeSuccesses(carry?: Carrier): void {
  describe("every declared success is brought about:", () => {
    const relay = relayForEach();
    test.each(listOutcomes(({ ok }) => Object.keys(ok)))("%s answers %s", async (name, status) => {
      const reply = await carrier.run(carry, () => getCases(name)[status]!(relay()));
      expect(reply).toMatchObject({ status: Number(status) });
      const { ok }: Operation = operations[name];
      const body = reply.text === "" ? undefined : reply.body;
      expect(v.parse(ok[Number(status)]!, body)).toEqual(body);
    });
  });
}

/** A case for each refusal that a row declares. */
export function describeRefusals(carry?: Carrier): void {
  describe("every declared refusal is brought about:", () => {
    const relay = relayForEach();
    test.each(listOutcomes(({ refusals }) => refusals))(
      "%s refuses with %s",
      async (name, code) => {
        expectRefusal(await carrier.run(carry, () => getCases(name)[code]!(relay())), code);
      },
    );
  });
}

/** A case for each refusal that a row implies without naming it. */
export function describeImplied(carry?: Carrier): void {
  describe("every implied refusal is brought about:", () => {
    let stage: ImpliedRelays;
    beforeAll(async () => {
      stage = await openImpliedRelays();
    });
    afterAll(() => stage.close());

    test.each(listOutcomes(listImpliedRefusals))("%s refuses with %s", async (name, code) => {
      expectRefusal(await carrier.run(carry, () => impliedRefusalCases[code]!(stage, name)), code);
    });
  });
}

function listOutcomes<T>(outcomesOf: (row: Operation) => readonly T[]): [OperationName, T][] {
  return operationNames.flatMap((name) =>
    outcomesOf(operations[name]).map((outcome): [OperationName, T] => [name, outcome]),
  );
}

function relayForEach(): () => TestRelay {
  let t: TestRelay;
  beforeEach(async () => {
    t = await startTestRelay();
  });
  afterEach(() => t.close());
  return () => t;
}

function expectRefusal({ status, headers, body }: Reply, code: Code): void {
  const { text } = errors[code];
  expect(body).toMatchObject({ code, status: errors[code].status });
  expect(status).toBe(errors[code].status);
  expect(body["message"]).toBe(body["error"]);
  expect(String(body["error"]).startsWith(text)).toBe(true);
  // What is wrong with a request is told field by field, wherever it was found.
  const told = ((body["issues"] ?? []) as Issue[]).length > 0;
  expect(told).toBe(code === "request.invalid");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-request-id")).toBe(body["request_id"]);
}
