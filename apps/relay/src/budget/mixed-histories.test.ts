import fc from "fast-check";
import { test } from "vitest";
import { createHistories, runHistory } from "../../test/histories/random-history.ts";

/** As many as take few seconds; AGENT_TEST_HISTORIES sets any number, of longer histories. */
const given = process.env["AGENT_TEST_HISTORIES"];
const [runs, groups, limitMs] =
  given === undefined ? [2, 20, 120_000] : [Number(given), 160, 36_000_000];

test(
  "no mixture of payments, work, crashes and restores breaks a rule of the money",
  async () => {
    const property = fc.asyncProperty(createHistories(groups), runHistory);
    // The report of a broken rule has the steps that led to it, so a search for a shorter history is left out.
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
  },
  limitMs,
);
