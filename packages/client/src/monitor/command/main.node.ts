#!/usr/bin/env node
import { checkNodeVersion, watchOutput } from "@agent/command-line";

// Exit code 1 would mean an alarm, but an older Node.js checks nothing, and without its output no alarm can be
// read.
const EXIT_NO_RESULT = 2;

async function main(): Promise<number> {
  const tooOld = checkNodeVersion(process.versions.node);
  if (tooOld !== undefined) {
    process.stderr.write(`${tooOld}\n`);
    return EXIT_NO_RESULT;
  }
  // Loaded only now, because the modules of an older Node.js lack what it imports.
  const { runMonitor } = await import("./run-monitor.node.ts");
  return runMonitor(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    now: () => Date.now(),
  });
}

watchOutput(process, (message) => {
  process.stderr.write(`agent-monitor: ${message}\n`);
  process.exit(EXIT_NO_RESULT);
});
process.exitCode = await main();
