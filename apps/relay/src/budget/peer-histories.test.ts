import fc from "fast-check";
import { test } from "vitest";
import {
  createPairHistories,
  runPairHistory,
} from "../../test/histories/pairs/random-pair-history.ts";

/** As many as take few seconds; AGENT_TEST_HISTORIES sets any number, of longer histories. */
const given = process.env["AGENT_TEST_HISTORIES"];
const [runs, groups, limitMs] =
  given === undefined ? [1, 20, 120_000] : [Number(given), 120, 36_000_000];

test(
  "no mixture of tasks, lost messages, crashes and removals between two relays breaks a rule of the money",
  async () => {
    const property = fc.asyncProperty(createPairHistories(groups), runPairHistory);
    // The report of a broken rule has the steps that led to it, so a search for a shorter history is left out.
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
  },
  limitMs,
);
