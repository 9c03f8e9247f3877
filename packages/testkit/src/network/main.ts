import { simulate } from "./simulate.ts";

const USAGE = `pnpm simulate [runs] [first seed]

Runs the federation of relays through network faults, by default 10000 times from seed 1, and prints
each seed after which a rule was broken. A single run prints every step.
`;

/** Runs the command and returns the exit code. */
function main(args: readonly string[]): number {
  const [runs = 10_000, first = 1] = args.map(Number);
  if (
    args.length > 2 ||
    ![runs, first].every((value) => Number.isSafeInteger(value) && value > 0)
  ) {
    process.stderr.write(USAGE);
    return 2;
  }
  let failed = 0;
  for (let seed = first; seed < first + runs; seed += 1) {
    const onStep = (step: string) => runs === 1 && process.stdout.write(`${step}\n`);
    const { violations } = simulate(seed, { onStep });
    if (violations.length > 0) {
      failed += 1;
      process.stdout.write(`seed ${seed}:\n  ${violations.join("\n  ")}\n`);
    }
  }
  process.stdout.write(`${runs} runs from seed ${first}, ${failed} with a broken rule\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
