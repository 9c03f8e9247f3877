import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;

/** Runs a program under a simulated version of Node.js, which may be too old to load the program's rules. */
function runOn(version: string, program: string) {
  const versions = `{ ...process.versions, node: "${version}" }`;
  const isOld = version.startsWith("18.");
  const refuse = `import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) {
      if (${isOld} && /\\/run-(command|monitor)/.test(url)) throw new SyntaxError("no export named 'hash'");
      return next(url, context);
    } });`;
  const before = `${refuse} Object.defineProperty(process, "versions", { value: ${versions} })`;
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      "--conditions=agent-source",
      `--import=data:text/javascript,${before}`,
      join(root, program),
      join(root, "examples/receipt.json"),
    ],
    { encoding: "utf8" },
  );
  return { status, stderr };
}

const TOO_OLD = { status: 2, stderr: "Node.js 22.19 or newer is needed, this is 20.20.2\n" };

it("agent-verify on an old Node.js says so and does not call the receipt refused", () => {
  const command = "packages/verify/src/command/main.node.ts";
  expect(runOn("20.20.2", command)).toEqual(TOO_OLD);
  expect(runOn("22.19.0", command)).toEqual({ status: 0, stderr: "" });
});

it.each([
  ["packages/verify/src/command/main.node.ts"],
  ["packages/client/src/monitor/command/main.node.ts"],
])(
  "OP23: %s says so on a Node.js that cannot load it, instead of a verdict or an alarm",
  (command) => {
    const stderr = "Node.js 22.19 or newer is needed, this is 18.20.8\n";
    expect(runOn("18.20.8", command)).toEqual({ status: 2, stderr });
  },
);

it("agent-monitor on an old Node.js says so and raises no alarm", () => {
  const command = "packages/client/src/monitor/command/main.node.ts";
  expect(runOn("20.20.2", command)).toEqual(TOO_OLD);
  expect(runOn("22.19.0", command).stderr).toMatch(/^agent-monitor: /);
});
