import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "@agent/crypto";
import { signReceipt, type ExecutionReceipt } from "@agent/receipts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { formatBundle, signBundle, type EvidenceBundle } from "../index.ts";
import { digestFile } from "./digest-file.node.ts";
import { runCommand } from "./run-command.node.ts";

let folder: string;
const at = (name: string) => join(folder, name);
const prompt = "write a report";
// Larger than any result that a relay accepts.
const report = Buffer.alloc(3_000_000, "report ");

function receiptFor(result: string) {
  const { signature: _, suite: __, ...body } = made.receipt;
  return signReceipt(
    {
      ...body,
      delegation_receipts: [],
      result,
      result_hash: sha256Hex(result),
      prompt_hash: sha256Hex(prompt),
    },
    made.alice.secretKey,
  );
}

/** Creates the evidence of a free task with this receipt. */
function bundleOf(receipt: ExecutionReceipt): EvidenceBundle {
  const key = { public_key: made.alice.publicKey, valid_from: 0, valid_until: null };
  return signBundle(
    {
      task: {
        task_id: made.taskId,
        agent_id: receipt.agent_id,
        submitted_by: made.bobId,
        assigned_to: null,
        status: receipt.status,
        prompt,
        submitted_at: receipt.submitted_at,
      },
      routing: { choice: null, executors: [] },
      receipt,
      signers: [{ agent_id: receipt.agent_id, keys: [key], chain: [], devices: [] }],
      settlements: [],
      postings: [],
      credential: null,
      received_at: made.now,
    },
    { ...made.carol, relayId: made.relayId, now: made.now },
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-verify-"));
  const reference = {
    uri: "https://files.example/report",
    sha256: createHash("sha256").update(report).digest("hex"),
    bytes: report.length,
  };
  const receipt = receiptFor(JSON.stringify(reference));
  const longer = { ...reference, bytes: reference.bytes + 1 };
  const files: Record<string, string | Buffer> = {
    "report.bin": report,
    "shorter.bin": report.subarray(0, -1),
    "other.bin": Buffer.concat([report.subarray(0, -1), Buffer.from("x")]),
    "receipt.json": JSON.stringify(receipt),
    "bundle.json": formatBundle(bundleOf(receipt)),
    "longer.json": JSON.stringify(receiptFor(JSON.stringify(longer))),
    "text.json": JSON.stringify(receiptFor("just a text")),
    "script.json": JSON.stringify(
      receiptFor(JSON.stringify({ ...reference, uri: "javascript:alert(1)" })),
    ),
    "forged.json": JSON.stringify({ ...receipt, completed_at: receipt.completed_at + 1 }),
    "credential.json": JSON.stringify(made.credential),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(at(name), text)));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const exitCode = await runCommand(args, {
    read: (file) => readFile(file),
    digest: digestFile,
    out: (text) => (out += text),
    err: (text) => (err += text),
    now: () => made.now,
    version: "1.2.3",
  });
  return { exitCode, out, err };
}

describe("B14: agent-verify --file", () => {
  test.each(["receipt.json", "bundle.json"])(
    "agent-verify accepts with %s the file whose hash and length were signed",
    async (name) => {
      const file = ["--file", at("report.bin"), at(name)];
      const { exitCode, out } = await run("--json", "--allow-unanchored", ...file);
      expect(exitCode).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        valid: true,
        checks: expect.arrayContaining([{ name: "hashes_match", ok: true }]) as unknown,
      });
    },
  );

  test.each([
    ["receipt.json", "other.bin", "result.file_mismatch"],
    ["receipt.json", "shorter.bin", "result.file_mismatch"],
    ["bundle.json", "other.bin", "result.file_mismatch"],
    ["longer.json", "report.bin", "result.file_mismatch"],
    ["text.json", "report.bin", "result.no_reference"],
    ["script.json", "report.bin", "result.no_reference"],
    ["credential.json", "report.bin", "result.no_reference"],
    ["forged.json", "report.bin", "receipt.signature_invalid"],
  ])("agent-verify refuses %s with %s: %s", async (artifact, file, code) => {
    const { exitCode, out } = await run("--json", "--file", at(file), at(artifact));
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ valid: false, code });
  });

  test("agent-verify accepts a receipt without a reference as before when no file is named", async () => {
    expect((await run(at("text.json"))).exitCode).toBe(0);
  });

  test("agent-verify reports why a file cannot be read, and accepts one artifact at a time", async () => {
    const missing = await run("--file", at("missing.bin"), at("receipt.json"));
    expect(missing).toMatchObject({ exitCode: 2, out: "" });
    expect(missing.err).toContain("missing.bin");
    const both = await run("--file", at("report.bin"), at("receipt.json"), at("bundle.json"));
    expect(both).toMatchObject({ exitCode: 2, out: "" });
    expect(both.err).toContain("--file takes one receipt or bundle at a time");
  });
});
