import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;

/** Runs a program from its sources, with its output where a shell sends it. */
function runInto(redirection: string, [program = "", ...args]: readonly string[]) {
  const { status, stderr } = spawnSync(
    "bash",
    [
      "-c",
      `set -o pipefail; "$0" "$@" ${redirection}`,
      process.execPath,
      "--conditions=agent-source",
      join(root, program),
      ...args,
    ],
    { cwd: root, encoding: "utf8" },
  );
  return { status, stderr };
}

const programs: [code: number, ...program: string[]][] = [
  [2, "packages/verify/src/command/main.node.ts", "--json", "examples/receipt.json"],
  [2, "packages/client/src/monitor/command/main.node.ts", "--help"],
  [1, "apps/relay/src/main.ts", "--help"],
  [1, "apps/agent-server/src/main.ts", "--version"],
];

test.each(programs)(
  "OP16: on a full disk, exit code %i says that the output of %s is lost",
  (code, ...program) => {
    expect(runInto("> /dev/full", program)).toEqual({
      status: code,
      stderr: expect.stringMatching(
        /^[^\n]*the output cannot be written: ENOSPC[^\n]*\n$/,
      ) as string,
    });
  },
  60_000,
);

test.each(programs)(
  "a reader that ends before the output is no fault, whatever exit code %i means to %s",
  (_, ...program) => {
    expect(runInto("| (exec true)", program)).toEqual({ status: 0, stderr: "" });
  },
  60_000,
);
