import { computeMedian, type Figure } from "../figures.ts";
import type { RelaySide } from "../relay-side.ts";
import type { StatementProxy } from "./statement-proxy.ts";

const ROUNDS = 9;
const IN_A_BATCH = 64;

/** Counts the statements that a relay sends to its database for delegations that arrive at the same time. */
export async function measureStatements(side: RelaySide, proxy: StatementProxy): Promise<Figure> {
  const delegateAll = async () => {
    const tasks = await Promise.all(Array.from({ length: IN_A_BATCH }, side.submitPaid));
    await Promise.all(tasks.map(side.deliver));
  };
  // The first use of a token costs additional statements.
  await delegateAll();
  const each: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = proxy.countStatements();
    await delegateAll();
    each.push((proxy.countStatements() - before) / IN_A_BATCH);
  }
  return {
    name: `statements per paid delegation, ${IN_A_BATCH} at once`,
    value: computeMedian(each),
    floor: 2,
    goal: 0.6,
    bound: "max",
    rounds: each,
  };
}
