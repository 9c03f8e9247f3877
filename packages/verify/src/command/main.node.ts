#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { checkNodeVersion, watchOutput } from "@agent/command-line";
import { digestFile } from "./digest-file.node.ts";

const manifest = new URL("../../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

// Exit code 1 would mean that an artifact is refused, but an older Node.js verifies nothing, and without its
// output no verdict can be read.
const EXIT_NO_VERDICT = 2;

async function main(): Promise<number> {
  const tooOld = checkNodeVersion(process.versions.node);
  if (tooOld !== undefined) {
    process.stderr.write(`${tooOld}\n`);
    return EXIT_NO_VERDICT;
  }
  // Loaded only now, because the modules of an older Node.js lack what it imports.
  const { runCommand } = await import("./run-command.node.ts");
  return runCommand(process.argv.slice(2), {
    read: (file) => (file === "-" ? buffer(process.stdin) : readFile(file)),
    digest: digestFile,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    now: () => Date.now(),
    version,
  });
}

watchOutput(process, (message) => {
  process.stderr.write(`agent-verify: ${message}\n`);
  process.exit(EXIT_NO_VERDICT);
});
process.exitCode = await main();
