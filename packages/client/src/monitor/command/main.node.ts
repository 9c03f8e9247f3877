#!/usr/bin/env node
import { runMonitor } from "./run-monitor.node.ts";

process.exitCode = await runMonitor(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  now: () => Date.now(),
});
