import { expect, test } from "vitest";
import { sumUnpaidResults } from "./unpaid-results.ts";

test.each([
  [{ limit: 10 }, 0],
  [{ limit: 10, undecided: 4 }, 4],
  [{ limit: 10, refused: 10 }, 0],
  [{ limit: 10, refused: 13 }, 3],
  [{ limit: 10, undecided: 4, refused: 13 }, 7],
  [{ limit: 0, refused: 1 }, 1],
])("the unpaid results of a peer %o use up %s of its credit", (results, used) => {
  expect(sumUnpaidResults(results)).toBe(used);
});
