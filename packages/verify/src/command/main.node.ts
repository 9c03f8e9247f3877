#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { digestFile } from "./digest-file.node.ts";
import { runCommand } from "./run-command.node.ts";

const manifest = new URL("../../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

process.exitCode = await runCommand(process.argv.slice(2), {
  read: (file) => (file === "-" ? buffer(process.stdin) : readFile(file)),
  digest: digestFile,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  now: () => Date.now(),
  version,
});
