import { signRelaySuccession } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { RUNGS, verifyArtifact } from "../index.ts";
import { digestFile } from "./digest-file.node.ts";
import { type Machine, runCommand } from "./run.node.ts";

const { alice, bob, now } = made;
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const files: Readonly<Record<string, Uint8Array>> = {
  "receipt.json": json(made.receipt),
  "forged.json": json({ ...made.receipt, result: "else" }),
  "credential.json": json(made.credential),
  "evidence.json": new TextEncoder().encode(made.bundleFile),
  "edited.json": new TextEncoder().encode(`${made.bundleFile}\n`),
  "latin1.json": Uint8Array.from(Buffer.from('{"a":"é"}', "latin1")),
  "marked.json": Uint8Array.from([0xef, 0xbb, 0xbf, ...json(made.receipt)]),
  "notes.json": json({ notes: [] }),
  "-": json(made.receipt),
};

/** Runs the command on these files, with a clock that stands at `now`. */
const run = (...args: string[]) => runOn(files, args);

async function runOn(files: Readonly<Record<string, Uint8Array>>, args: string[]) {
  let [out, err] = ["", ""];
  const machine: Machine = {
    read: async (file) => {
      const bytes = files[file];
      if (bytes === undefined) throw new Error("no such file");
      return Promise.resolve(bytes);
    },
    digest: digestFile,
    out: (text) => (out += text),
    err: (text) => (err += text),
    now: () => now,
    version: "1.2.3",
  };
  return { exitCode: await runCommand(args, machine), out, err };
}

describe("the exit code", () => {
  test.each<[number, string[]]>([
    [0, ["receipt.json"]],
    [0, ["receipt.json", "credential.json", "evidence.json"]],
    [0, []],
    [0, ["-"]],
    [0, ["receipt.json", "--key", alice.publicKey]],
    [0, ["receipt.json", "--key", alice.publicKey.toUpperCase()]],
    [0, ["receipt.json", "--key", alice.did]],
    [0, ["receipt.json", "--key", bob.did, "--key", alice.did]],
    [0, ["receipt.json", "--task", made.taskId]],
    [0, ["credential.json", "--now", String(now)]],
    [0, ["credential.json", "--now", new Date(now).toISOString()]],
    [1, ["forged.json"]],
    [1, ["receipt.json", "forged.json"]],
    [1, ["edited.json"]],
    [1, ["receipt.json", "--key", bob.publicKey]],
    [1, ["receipt.json", "--task", "another"]],
    [1, ["credential.json", "--now", "2036-01-01"]],
    [2, ["missing.json"]],
    [2, ["notes.json"]],
    [2, ["latin1.json"]],
    [2, ["marked.json"]],
    [2, ["forged.json", "missing.json", "receipt.json"]],
    [2, ["--unknown"]],
    [2, ["receipt.json", "--key"]],
    [2, ["receipt.json", "--key", "00"]],
    [2, ["receipt.json", "--key", "did:key:z6Mk"]],
    [2, ["receipt.json", "--now", "yesterday"]],
    [2, ["receipt.json", "--now", "2026-13-45"]],
  ])("%i of %j", async (exitCode, args) => {
    const ran = await run(...args);
    expect(ran.exitCode).toBe(exitCode);
    // Whoever gets no verdict is told why.
    expect(ran.out + ran.err).not.toBe("");
  });
});

test("for people: every rung, what it proves and what it does not", async () => {
  const { out } = await run("evidence.json");
  expect(out).toMatch(/^evidence\.json: bundle: valid\n/);
  for (const { title, proves, doesNotProve } of RUNGS) {
    expect(out).toContain(`  ok  ${title.padEnd(22)}  ${proves} Not: ${doesNotProve}\n`);
  }
  expect(out).toContain("  inside: receipt: valid\n");
  expect(out).toContain("  inside: credential: valid\n");
});

test("for people: what fails has its code, and what is not shown says so", async () => {
  const { out } = await run("forged.json");
  expect(out).toMatch(/^forged\.json: receipt: refused, receipt\.signature_invalid\n/);
  expect(out).toMatch(/^ {2}NO {2}intact +receipt\.signature_invalid$/m);
  expect(out).toMatch(/^ {2}-- {2}settled +nothing to judge it by$/m);
});

test("--json: one line a file, the verdict as the library gives it", async () => {
  const { out } = await run("--json", "receipt.json", "forged.json", "notes.json");
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { file: "receipt.json", ...verifyArtifact(made.receipt, { now }) },
    { file: "forged.json", ...verifyArtifact({ ...made.receipt, result: "else" }, { now }) },
    { file: "notes.json", ...verifyArtifact({ notes: [] }) },
  ]);
});

test("--help names every option, --version the version", async () => {
  const { exitCode, out } = await run("--help");
  expect(exitCode).toBe(0);
  for (const option of ["--key", "--task", "--now", "--json", "--help", "--version"]) {
    expect(out).toContain(option);
  }
  expect(await run("--version")).toEqual({ exitCode: 0, out: "1.2.3\n", err: "" });
});

test("what cannot be read is named on the other channel", async () => {
  expect(await run("--json", "missing.json")).toEqual({
    exitCode: 2,
    out: "",
    err: "agent-verify: missing.json: no such file\n",
  });
  expect((await run("--unknown")).err).toMatch(/^agent-verify: .*--unknown.*\n\nagent-verify \[/);
});

describe("D8: the succession of a relay's key beside a file", () => {
  const succession = [
    signRelaySuccession({
      relay_id: made.bundle.relay_id,
      oldSecretKey: made.relaySecretKey,
      newSecretKey: alice.secretKey,
      timestamp: now,
    }),
  ];
  const beside = { ...files, "relay.json": json({ succession }), "steps.json": json(succession) };

  test.each(["relay.json", "steps.json"])(
    "D8: the document or the list in %s lets a bundle of before count for the newer key",
    async (file) => {
      const asked = ["evidence.json", "--key", alice.publicKey];
      expect(await runOn(beside, asked)).toMatchObject({ exitCode: 1 });
      const answered = await runOn(beside, [...asked, "--succession", file]);
      expect(answered).toMatchObject({ exitCode: 0, err: "" });
    },
  );

  test.each(["notes.json", "missing.json", "latin1.json"])(
    "D8: %s holds no succession, which is the exit code 2",
    async (file) => {
      const answered = await runOn(beside, ["evidence.json", "--succession", file]);
      expect(answered).toMatchObject({ exitCode: 2, out: "" });
      expect(answered.err).toContain(file);
    },
  );
});
