import { expect, test } from "vitest";
import { parseBody } from "./call-relay.ts";

test("the body of an answer is parsed", () => {
  expect(parseBody('{"a":1}')).toEqual({ ok: true, body: { a: 1 } });
});

test.each(["", "<html>", '{"a":'])(
  "the answer %j becomes a refusal, so that the page continues",
  (text) => {
    expect(parseBody(text)).toMatchObject({ ok: false, code: "response.malformed" });
  },
);
