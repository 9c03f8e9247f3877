import { signRelaySuccession } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { PROOF_LEVELS, verifyArtifact } from "../index.ts";
import { digestFile } from "./digest-file.node.ts";
import { type CommandEnvironment, runCommand } from "./run-command.node.ts";

const { alice, bob, carol, now } = made;
const text = (value: string) => new TextEncoder().encode(value);
const json = (value: unknown) => text(JSON.stringify(value));
const relayDid = made.bundle.issuer;

const files: Readonly<Record<string, Uint8Array>> = {
  "receipt.json": json(made.receipt),
  "forged.json": json({ ...made.receipt, result: "else" }),
  "credential.json": json(made.credential),
  "evidence.json": new TextEncoder().encode(made.bundleFile),
  "edited.json": new TextEncoder().encode(`${made.bundleFile}\n`),
  "edited-twice.json": json({ ...made.bundle, created_at: 0 }),
  "latin1.json": Uint8Array.from(Buffer.from('{"a":"é"}', "latin1")),
  "marked.json": Uint8Array.from([0xef, 0xbb, 0xbf, ...json(made.receipt)]),
  "notes.json": json({ notes: [] }),
  "settlement.json": json(made.settlement),
  "ledger.json": json(made.ledger),
  "two-lines.json": json({ ...made.receipt, relay_task_id: "1\n  receipt: valid\u202e" }),
  "trusted.txt": text(`# relays that we know\n${relayDid} # the first\r\n\n${bob.publicKey}\n`),
  "others.txt": text(`${bob.publicKey}\n`),
  "empty.txt": text("# none yet\n"),
  "wrong.txt": text(`${bob.publicKey}\nbob\n`),
  "-": json(made.receipt),
};

/** Runs the command on these files, with a clock fixed at `now`. */
const run = (...args: string[]) => runOn(files, args);

async function runOn(files: Readonly<Record<string, Uint8Array>>, args: string[]) {
  let [out, err] = ["", ""];
  const machine: CommandEnvironment = {
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

const OPTIONS =
  "key trust allow-unanchored task file log witness quorum proof now explain json help version".split(
    " ",
  );

describe("the exit code of agent-verify", () => {
  test.each<[number, string[]]>([
    [0, ["receipt.json"]],
    [0, ["receipt.json", "credential.json"]],
    [0, ["evidence.json", "--key", made.relayKey]],
    [0, ["evidence.json", "--trust", "trusted.txt"]],
    [0, ["evidence.json", "--trust", "others.txt", "--key", relayDid]],
    [0, ["evidence.json", "--trust", "others.txt", "--trust", "trusted.txt"]],
    [0, ["evidence.json", "--allow-unanchored"]],
    [0, ["settlement.json", "--allow-unanchored"]],
    [0, ["settlement.json", "--key", carol.did]],
    [0, ["ledger.json", "--key", alice.did]],
    [3, ["evidence.json"]],
    [3, ["settlement.json"]],
    [3, ["receipt.json", "credential.json", "evidence.json"]],
    [3, ["evidence.json", "receipt.json"]],
    [1, ["forged.json", "evidence.json"]],
    [1, ["evidence.json", "forged.json"]],
    [2, ["evidence.json", "missing.json"]],
    [1, ["evidence.json", "--trust", "others.txt"]],
    [1, ["evidence.json", "--trust", "others.txt", "--allow-unanchored"]],
    [1, ["forged.json", "--allow-unanchored"]],
    [2, ["evidence.json", "--trust", "empty.txt"]],
    [2, ["evidence.json", "--trust", "empty.txt", "--key", relayDid]],
    [2, ["evidence.json", "--trust", "wrong.txt"]],
    [2, ["evidence.json", "--trust", "missing.txt"]],
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
  ])("the exit code of agent-verify is %i for %j", async (exitCode, args) => {
    const ran = await run(...args);
    expect(ran.exitCode).toBe(exitCode);
    // A file without a verdict has a message on the standard error.
    expect(ran.out + ran.err).not.toBe("");
  });
});

test("D5: --explain adds every proof level, with the facts that it proves and does not prove", async () => {
  const { out } = await run("evidence.json", "--explain", "--key", made.relayKey);
  expect(out).toMatch(/^ {2}bundle: valid$/m);
  const unlogged = PROOF_LEVELS.filter(({ name }) => name !== "logged" && name !== "witnessed");
  for (const { title, proves, doesNotProve } of unlogged) {
    expect(out).toContain(
      `  ok  ${title.padEnd(22)}  ${proves} It does not prove ${doesNotProve}\n`,
    );
  }
  expect(out).toContain("  inside: receipt: valid\n");
  expect(out).toContain("  inside: credential: valid\n");
});

test("D5: without --explain the report of a valid bundle is its claim and its verdict", async () => {
  const { out } = await run("evidence.json", "--key", made.relayKey);
  const [task, receipt] = [made.bundle.task, made.bundle.receipt];
  expect(out.split("\n")).toEqual([
    `evidence.json: agent ${receipt.agent_id} completed task ${task.task_id} for agent ${task.submitted_by}`,
    expect.stringContaining(`submitted ${new Date(task.submitted_at).toISOString()}`),
    "  paid 2.00 USD: 1.90 USD to the agent, 0.10 USD to the relay",
    `  as stated by relay ${made.bundle.relay_id}, key ${relayDid}, which you named`,
    "  bundle: valid",
    "",
  ]);
});

test.each([
  ["receipt.json", `key ${alice.publicKey}`],
  ["credential.json", `key ${alice.did}`],
  ["ledger.json", "with a key that is not in it"],
])("D5: the first line of %s names the key that the caller did not name", async (file, key) => {
  const [first] = (await run(file)).out.split("\n");
  expect(first).toContain(`${key}, which you have not named`);
});

test("D5: a refused artifact is reported as not proven, with the failed checks", async () => {
  const { out } = await run("forged.json");
  expect(out).toMatch(/^forged\.json: not proven: agent /);
  expect(out).toMatch(/^ {2}receipt: refused, receipt\.signature_invalid$/m);
  expect(out).toMatch(/^ {2}NO {2}intact +receipt\.signature_invalid$/m);
  const explained = await run("forged.json", "--explain");
  expect(explained.out).toMatch(/^ {2}-- {2}settled +nothing to verify$/m);
});

test("D5: a text of the artifact cannot add a line to the report", async () => {
  const { out } = await run("two-lines.json");
  expect(out.split("\n").filter((line) => line.includes("receipt: valid"))).toEqual([
    expect.stringContaining(String.raw`task "1\n  receipt: valid\u202e"`),
  ]);
});

test("D5: a bundle that was reformatted and edited is reported as both", async () => {
  const { out } = await run("edited-twice.json", "--key", made.relayKey);
  expect(out).toContain("reformatted, and its members are refused, bundle.signature_invalid");
});

test("D5: --json has the facts of the text, and is valid only with exit code 0", async () => {
  const { out } = await run("--json", "receipt.json", "forged.json", "notes.json", "evidence.json");
  const lines = out.trimEnd().split("\n");
  const claim: unknown = expect.arrayContaining([expect.any(String)]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { file: "receipt.json", ...verifyArtifact(made.receipt, { now }), verdict: "valid", claim },
    {
      file: "forged.json",
      ...verifyArtifact({ ...made.receipt, result: "else" }, { now }),
      verdict: "refused",
      claim,
    },
    { file: "notes.json", ...verifyArtifact({ notes: [] }), verdict: "refused", claim },
    {
      file: "evidence.json",
      ...verifyArtifact(made.bundleFile, { now }),
      valid: false,
      code: "artifact.unanchored",
      verdict: "unanchored",
      claim,
    },
  ]);
  const allowed = await run("--json", "--allow-unanchored", "evidence.json");
  expect(JSON.parse(allowed.out)).toMatchObject({ valid: true, verdict: "unanchored" });
});

test("--help lists every option, and --version prints the version", async () => {
  const { exitCode, out } = await run("--help");
  expect(exitCode).toBe(0);
  for (const option of OPTIONS) {
    expect(out).toContain(`--${option}`);
  }
  expect(await run("--version")).toEqual({ exitCode: 0, out: "1.2.3\n", err: "" });
});

test("D5: an invalid file of keys is reported with the line, and nothing is verified", async () => {
  expect(await run("evidence.json", "--trust", "wrong.txt")).toEqual({
    exitCode: 2,
    out: "",
    err: "agent-verify: wrong.txt: line 2 must be 64 hex digits or a did:key, alone or as KEY=OWNER\n",
  });
});

test.each([
  [
    "a number with more digits than are read",
    '"order_id":9007199254740993',
    "order_id must be an integer",
  ],
  ["a member twice", '"note":1,"note":2', "must be JSON in which no object repeats a member"],
])("agent-verify says that it refuses a file because of %s", async (_, member, reason) => {
  const changed = text(JSON.stringify({ ...made.receipt, x: 0 }).replace('"x":0', member));
  const { exitCode, out } = await runOn({ changed }, ["changed"]);
  expect(exitCode).not.toBe(0);
  expect(out).toContain(`artifact.unreadable: ${reason}`);
});

test("an unreadable file is reported on the standard error", async () => {
  expect(await run("missing.json")).toEqual({
    exitCode: 2,
    out: "",
    err: "agent-verify: missing.json: no such file\n",
  });
  expect((await run("--unknown")).err).toMatch(
    /^agent-verify: .*--unknown.*\ntry agent-verify --help\n$/,
  );
});

describe("D8: the option --succession", () => {
  const succession = [
    signRelaySuccession({
      relay_id: made.bundle.relay_id,
      oldSecretKey: made.relaySecretKey,
      newSecretKey: alice.secretKey,
      timestamp: now,
    }),
  ];
  const beside = {
    ...files,
    "relay.json": json({ succession }),
    "steps.json": json(succession),
    "broken.json": json([{ ...succession[0], timestamp: 1 }]),
  };

  test.each(["relay.json", "steps.json"])(
    "D8: --succession accepts an earlier bundle for the newer key with the document or list in %s",
    async (file) => {
      const asked = ["evidence.json", "--key", alice.publicKey];
      expect(await runOn(beside, asked)).toMatchObject({ exitCode: 1 });
      const answered = await runOn(beside, [...asked, "--succession", file]);
      expect(answered).toMatchObject({ exitCode: 0, err: "" });
    },
  );

  test.each(["notes.json", "missing.json", "latin1.json", "broken.json"])(
    "D8: agent-verify exits with 2 because %s contains no unbroken succession",
    async (file) => {
      const answered = await runOn(beside, ["evidence.json", "--succession", file]);
      expect(answered).toMatchObject({ exitCode: 2, out: "" });
      expect(answered.err).toContain(file);
    },
  );
});

test.each([
  ["--now", "--now=2020-01-01", "--now=2021-01-01"],
  ["--task", "--task=a", "--task=b"],
  ["--json", "--json", "--json"],
])(
  "OP18: %s given twice is refused, because the first would have no effect",
  async (name, ...args) => {
    const ended = await run("receipt.json", ...args);
    expect(ended).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining(`${name} is given twice`) as string,
    });
    const named = ["--key", alice.publicKey, "--key", bob.publicKey];
    expect(await run("receipt.json", ...named)).toMatchObject({ exitCode: 0 });
  },
);

test.each([
  ["a wrong call", ["--prot"], "Unknown option '--prot'"],
  ["a trust file that is missing", ["--trust", "no.txt"], "no.txt: no such file"],
  ["a trust file that is wrong", ["--trust", "wrong.txt"], "wrong.txt: "],
  ["a succession that is none", ["--succession", "notes.json"], "notes.json: holds no "],
  ["a proof that is missing", ["--proof", "no.txt"], "no.txt: no such file"],
])("OP19: --json prints one line of JSON for %s", async (_, args, message) => {
  const { exitCode, out, err } = await run("--json", "receipt.json", ...args);
  expect([exitCode, err]).toEqual([2, expect.stringContaining(message)]);
  expect(out.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(out)).toMatchObject({
    code: "command.invalid",
    message: expect.stringContaining(message) as string,
  });
  expect((await run("receipt.json", ...args)).out).toBe("");
});

test("OP19: --json prints one line for each file, those that cannot be read too", async () => {
  const { exitCode, out } = await run("--json", "missing.json", "receipt.json", "latin1.json");
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(exitCode).toBe(2);
  expect(lines).toMatchObject([
    { file: "missing.json", kind: null, valid: false, code: "artifact.unreadable" },
    { file: "receipt.json", valid: true },
    { file: "latin1.json", kind: null, valid: false, code: "artifact.unreadable" },
  ]);
});

test("OP20: a text of others cannot control the terminal in the output of --json", async () => {
  const hostile = "a\u009b2J\u202egpj.exe";
  const { out } = await runOn({ [hostile]: json(made.receipt) }, ["--json", hostile]);
  expect(out).not.toMatch(/[\u007f-\u009f\u202e]/);
  expect(JSON.parse(out)).toMatchObject({ file: hostile, valid: true });
});
