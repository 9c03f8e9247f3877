import { expect, test } from "vitest";
import { changeOneByte } from "./change-one-byte.ts";

const receipt = {
  task_id: "task-1",
  result: '{"words":39,"top":[["agent",7]]}',
  status: "completed",
};

test.each([undefined, 2])(
  "one byte inside the result is changed (JSON indented by %s)",
  (space) => {
    const before = JSON.stringify(receipt, null, space);
    const { text: after } = changeOneByte(before, receipt.result);
    const differing = Buffer.from(before).filter((byte, at) => byte !== Buffer.from(after)[at]);
    expect([after.length, differing.length]).toEqual([before.length, 1]);
    expect(JSON.parse(after)).toEqual({
      ...receipt,
      result: receipt.result.replace("39", "49"),
    });
  },
);

test("a result that is not in the text or has no digit is rejected", () => {
  expect(() => changeOneByte(JSON.stringify(receipt), "other 1")).toThrow("no digit");
  expect(() => changeOneByte(JSON.stringify({ result: "none" }), "none")).toThrow("no digit");
});
