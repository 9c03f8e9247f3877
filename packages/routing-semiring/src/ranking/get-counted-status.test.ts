import { expect, test } from "vitest";
import {
  getCountedStatus,
  getInspectedStatus,
  type EndedTask,
  type InspectedTask,
} from "./get-counted-status.ts";

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

test.each<[InspectedTask["result"], share: number, paid: number, due: number, counted: string]>([
  ["accepted", 1_000_000, 10, 10, "completed"],
  ["lapsed", 1_000_000, 10, 10, "completed"],
  ["lapsed", 1_000_000, 9, 9, "partial"],
  ["conceded", 0, 0, 10, "failed"],
  ["conceded", 500_000, 5, 10, "completed"],
  ["unanswered", 499_999, 4, 10, "failed"],
  ["decided", 500_000, 5, 10, "completed"],
  ["decided", 499_999, 5, 10, "failed"],
  ["decided", 500_000, 4, 8, "partial"],
  ["decided", 400_000, 3, 8, "failed"],
  ["decided", 999_999, 0, 10, "failed"],
  ["undecided", 500_000, 5, 10, "denied"],
  ["undecided", 900_000, 9, 10, "denied"],
])(
  "the result %s with a share of %i millionths, %i paid of %i due, counts as %s",
  (result, share, paid, due, counted) => {
    expect(getInspectedStatus({ result, share, paid, due, price: 10 })).toBe(counted);
  },
);
