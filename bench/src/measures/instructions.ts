import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTimes } from "../load.ts";
import { startRelay } from "../relay-side.ts";

const WARM_UP = 2_500;
const ROUNDS = 4;
const COUNTED = 200;
const IN_FLIGHT = 16;

/** The parts of a relay, identified by the files that contain their instructions. */
const PARTS = [
  ["Node.js", /\/node$/],
  ["SQLite and its binding", /\.node$/],
  ["libc", /\/libc\.so/],
  // Compiled code belongs to no file.
  ["compiled JavaScript", /^\?+$/],
] as const;

/**
 * Counts the processor instructions of a paid delegation in memory with valgrind (Debian's package `valgrind`),
 * which takes eight minutes. The counts ignore other load, so they show differences that times do not.
 * Periodic work counts for more than under load, because under valgrind a relay does about 12 delegations a
 * second.
 */
export async function countInstructions(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const output = join(folder, "counts");
  const relay = await startRelay({}, 1, {
    isQuiet: true,
    launcher: [
      "valgrind",
      "--tool=callgrind",
      // Compiled JavaScript is written to memory that contained other code before.
      "--smc-check=all-non-file",
      `--callgrind-out-file=${output}`,
      process.execPath,
      // Compiling in the background would add a different number each time.
      "--single-threaded",
    ],
  });
  const control = (action: string) =>
    execFileSync("callgrind_control", [action, String(relay.child.pid)], { stdio: "ignore" });
  try {
    await runTimes(WARM_UP, relay.delegateOnce, IN_FLIGHT);
    control("--zero");
    const rounds: Counts[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      await runTimes(COUNTED, relay.delegateOnce, IN_FLIGHT);
      control("--dump");
      rounds.push(countByFile(readFileSync(`${output}.${round}`, "utf8")));
    }
    printCounts(rounds);
  } finally {
    await relay.child.kill();
    await relay.close();
    rmSync(folder, { recursive: true });
  }
}

/** The instructions of each file, without those of the functions that it calls. */
type Counts = ReadonlyMap<string, number>;

/** Prints the smallest number of the rounds, because code is compiled during some of them. */
function printCounts(rounds: readonly Counts[]): void {
  const print = (part: string, files: RegExp) => {
    const sums = rounds.map((counts) =>
      [...counts].reduce((sum, [file, count]) => sum + (files.test(file) ? count : 0), 0),
    );
    const [least, most] = [Math.min(...sums), Math.max(...sums)].map((sum) =>
      Math.round(sum / COUNTED).toLocaleString("en"),
    );
    console.log(`${part.padEnd(40)} ${least?.padStart(10)}  up to ${most}`);
  };
  print("instructions of a paid delegation", /./);
  for (const [part, files] of PARTS) print(`  ${part}`, files);
}

/** Sums the instructions of each file in a callgrind dump. */
function countByFile(dump: string): Counts {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  let file = "";
  let isCall = false;
  for (const line of dump.split("\n")) {
    const [, kind, id = "", name] = /^(c?ob)=\((\d+)\)(?: (.*))?$/.exec(line) ?? [];
    if (kind !== undefined) {
      if (name !== undefined) names.set(id, name);
      if (kind === "ob") file = names.get(id) ?? "";
    } else if (line.startsWith("calls=")) {
      isCall = true;
    } else if (/^[-+*\d]/.test(line)) {
      const count = Number(line.split(" ")[1] ?? 0);
      if (!isCall) counts.set(file, (counts.get(file) ?? 0) + count);
      isCall = false;
    }
  }
  return counts;
}
