import { expect, test } from "vitest";
import { getCountedStatus, type EndedTask } from "./get-counted-status.ts";

type Row = [EndedTask["receipt"], boolean, EndedTask["settlement"], string];

test.each<Row>([
  ["completed", false, undefined, "completed"],
  ["failed", false, undefined, "failed"],
  ["denied", false, undefined, "denied"],
  ["completed", true, { status: "completed", amount: 1 }, "completed"],
  ["completed", true, { status: "completed", amount: 0 }, "refunded"],
  ["completed", true, { status: "partial", amount: 1 }, "partial"],
  ["completed", true, { status: "partial", amount: 0 }, "partial"],
  ["completed", true, { status: "refunded", amount: 0 }, "refunded"],
  ["completed", true, undefined, "unsettled"],
  ["failed", true, { status: "refunded", amount: 0 }, "failed"],
  ["failed", true, undefined, "failed"],
  ["denied", true, { status: "refunded", amount: 0 }, "denied"],
])(
  "A6: a %s receipt of a task with a price (%s) and the settlement %o counts as %s",
  (receipt, priced, settlement, counted) => {
    expect(getCountedStatus({ receipt, priced, settlement })).toBe(counted);
  },
);
