import fc from "fast-check";
import { test } from "vitest";
import {
  createHostileHistories,
  runHostileHistory,
} from "../../test/histories/hostile/random-hostile-history.ts";

/** As many as take few seconds; AGENT_TEST_HISTORIES sets any number, of longer histories. */
const given = process.env["AGENT_TEST_HISTORIES"];
const [runs, groups, limitMs] =
  given === undefined ? [1, 20, 120_000] : [Number(given), 120, 36_000_000];

test(
  "no message and no answer of a hostile peer costs more than its credit, or breaks a rule of the money",
  async () => {
    const property = fc.asyncProperty(createHostileHistories(groups), runHostileHistory);
    // The report of a broken rule has the steps that led to it, so a search for a shorter history is left out.
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
  },
  limitMs,
);
