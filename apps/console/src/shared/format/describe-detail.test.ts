import { expect, test } from "vitest";
import { describeDetail } from "./describe-detail.ts";

test.each([
  [
    "the members of an object",
    '{"session_id":"01a2-9","level":"view"}',
    "session id: 01a2-9, level: view",
  ],
  ["numbers and nothing", '{"amount":1.5,"reason":null}', "amount: 1.5, reason: null"],
  ["a text with spaces in quotes", '{"reason":"a drill"}', 'reason: "a drill"'],
  [
    "a text that imitates a member in quotes",
    '{"name":"x, level: view"}',
    'name: "x, level: view"',
  ],
  ["an empty text in quotes", '{"reason":""}', 'reason: ""'],
  ["an inner object as JSON", '{"before":{"limit":1}}', 'before: {"limit":1}'],
  ["a plain text as it is", "freeze", "freeze"],
  ["a text that only begins like JSON as it is", "{open", "{open"],
])("the audit shows %s", (_, detail, shown) => {
  expect(describeDetail(detail)).toBe(shown);
});
