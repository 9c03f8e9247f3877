import {
  errors,
  impliedRefusals,
  operations,
  type Code,
  type Operation,
  type OperationName,
} from "@agent/wire";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { contract } from "../../test/contract/contract.ts";
import { implied, openStage, type Stage } from "../../test/contract/implied.ts";
import type { Case } from "../../test/contract/outcome.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

const names = Object.keys(operations) as OperationName[];

function expectRefusal({ status, headers, body }: Reply, code: Code): void {
  const { text } = errors[code];
  expect(body).toMatchObject({ code, status: errors[code].status });
  expect(status).toBe(errors[code].status);
  expect(body["message"]).toBe(body["error"]);
  expect(String(body["error"]).startsWith(text)).toBe(true);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-request-id")).toBe(body["request_id"]);
}

describe("every declared outcome is brought about:", () => {
  let t: TestRelay;
  beforeEach(async () => {
    t = await startTestRelay();
  });
  afterEach(() => t.close());

  describe.each(names)("%s", (name) => {
    const { ok, refusals }: Operation = operations[name];
    const cases: Readonly<Record<string, Case>> = contract[name];

    test("has a case for each success and each refusal of its row, and no others", () => {
      expect(Object.keys(cases).toSorted()).toEqual([...Object.keys(ok), ...refusals].toSorted());
    });

    test.each(Object.entries(ok))("answers %s", async (status, schema) => {
      const reply = await cases[status]!(t);
      expect(reply).toMatchObject({ status: Number(status) });
      expect(v.parse(schema, reply.body)).toEqual(reply.body);
    });

    test.each(refusals)("refuses with %s", async (code) => {
      expectRefusal(await cases[code]!(t), code);
    });
  });
});

describe("every implied refusal is brought about:", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  describe.each(names)("%s", (name) => {
    test.each(impliedRefusals(operations[name]))("refuses with %s", async (code) => {
      expectRefusal(await implied[code]!(stage, name), code);
    });
  });
});
