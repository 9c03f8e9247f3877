import { expect, test } from "vitest";
import { parseLastEventId } from "./event-stream.ts";

test.each([
  ["0", 0],
  ["17", 17],
  ["1234567890", 1_234_567_890],
  ["999999999999999", 999_999_999_999_999],
  ["9999999999999999", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["", undefined],
  ["1 or 1=1", undefined],
])("the last event id %j is read as the number %s", (id, number) => {
  expect(parseLastEventId(new Headers({ "last-event-id": id }))).toBe(number);
});
