import { errors, listImpliedRefusals, type Code, type Issue, type Operation } from "@agent/wire";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { carrier, type Carrier } from "../network/carrier.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";
import { contract } from "./contract.ts";
import { impliedRefusalCases, openImpliedRelays, type ImpliedRelays } from "./implied.ts";
import type { Case } from "./outcome.ts";
import { operations, type OperationName } from "../../src/operations.ts";

export const operationNames = Object.keys(operations) as OperationName[];

export const getCases = (name: OperationName): Readonly<Record<string, Case>> => contract[name];

/** Runs a case for each success that a row declares, and sends the requests through `carry` if it is given. */
export function describeSuccesses(carry?: Carrier): void {
  describe("an operation succeeds in every way that it declares", () => {
    const relay = relayForEach();
    test.each(listOutcomes(({ ok }) => Object.keys(ok)))(
      "the operation %s answers %s",
      async (name, status) => {
        const reply = await carrier.run(carry, () => getCases(name)[status]!(relay()));
        expect(reply).toMatchObject({ status: Number(status) });
        const { ok }: Operation = operations[name];
        const body = reply.text === "" ? undefined : reply.body;
        expect(v.parse(ok[Number(status)]!, body)).toEqual(body);
      },
    );
  });
}

/** Runs a case for each refusal that a row declares. */
export function describeRefusals(carry?: Carrier): void {
  describe("an operation refuses with every code that it declares", () => {
    const relay = relayForEach();
    test.each(listOutcomes(({ refusals }) => refusals))(
      "the operation %s refuses with %s",
      async (name, code) => {
        expectRefusal(await carrier.run(carry, () => getCases(name)[code]!(relay())), code);
      },
    );
  });
}

/** Runs a case for each refusal that a row implies without declaring it. */
export function describeImplied(carry?: Carrier): void {
  describe("an operation refuses with every code that its row implies", () => {
    let stage: ImpliedRelays;
    beforeAll(async () => {
      stage = await openImpliedRelays();
    });
    afterAll(() => stage.close());

    test.each(listOutcomes(listImpliedRefusals))(
      "the operation %s refuses with %s, which its row implies",
      async (name, code) => {
        expectRefusal(
          await carrier.run(carry, () => impliedRefusalCases[code]!(stage, name)),
          code,
        );
      },
    );
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
  // Invalid parts of a request are listed by field, in every part of the request.
  const listsIssues = ((body["issues"] ?? []) as Issue[]).length > 0;
  expect(listsIssues).toBe(code === "request.invalid");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-request-id")).toBe(body["request_id"]);
}
