#!/usr/bin/env node
import { checkNodeVersion } from "@agent/crypto/node-version";
import { runMonitor } from "./run-monitor.node.ts";

// Exit code 1 would mean an alarm, but an older Node.js checks nothing.
const EXIT_TOO_OLD = 2;

async function main(): Promise<number> {
  const tooOld = checkNodeVersion(process.versions.node);
  if (tooOld !== undefined) {
    process.stderr.write(`${tooOld}\n`);
    return EXIT_TOO_OLD;
  }
  return runMonitor(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    now: () => Date.now(),
  });
}

process.exitCode = await main();
