import { expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { runCommand } from "./run-command.node.ts";

const files: Readonly<Record<string, object>> = {
  "credential.json": made.credential,
  "settlement.json": made.settlement,
};

/** A time that cannot be read; of both files only the credential is compared with it. */
const brokenTime = {
  valueOf(): number {
    throw new TypeError("a library failed");
  },
} as unknown as number;

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const exitCode = await runCommand([...args, ...Object.keys(files)], {
    read: (file) => Promise.resolve(new TextEncoder().encode(JSON.stringify(files[file]))),
    digest: () => Promise.reject(new Error("no file is compared")),
    out: (text) => (out += text),
    err: (text) => (err += text),
    now: () => brokenTime,
    version: "1.2.3",
  });
  return { exitCode, out, err };
}

test("agent-verify gives a verdict on each file, although the verifier fails on one of them", async () => {
  const { exitCode, out, err } = await run();
  expect(exitCode).toBe(2);
  expect(err).toBe("agent-verify: credential.json: a library failed\n");
  expect(out).toContain("credential.json: not proven: it says nothing that can be read");
  expect(out).toContain("artifact.verifier_failed");
  expect(out).toContain("settlement: unanchored");
});

test("agent-verify states by --json that it failed on a file, and goes on", async () => {
  const { out } = await run("--json");
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { file: "credential.json", kind: null, valid: false, code: "artifact.verifier_failed" },
    { file: "settlement.json", kind: "settlement", verdict: "unanchored" },
  ]);
});
