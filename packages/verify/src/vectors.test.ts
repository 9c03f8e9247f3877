import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifyArtifact, type VerifyOptions } from "./index.ts";

interface Vector {
  readonly id: number;
  readonly cls: string;
  readonly why: string;
  readonly expect: "valid" | "invalid";
  readonly key?: string;
  readonly now?: number;
  readonly task?: string;
  readonly receipt?: string;
  readonly credential?: string;
  readonly ledger?: string;
}

function vectorsOf(name: string): Vector[] {
  const file = new URL(`../../../vectors/own/${name}.jsonl`, import.meta.url);
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Vector);
}

test.each(["receipts", "credentials", "ledgers"].flatMap(vectorsOf))(
  "$id $cls: $why",
  ({ key, now, task, receipt, credential, ledger, ...vector }) => {
    const text = receipt ?? credential ?? ledger;
    const options: VerifyOptions = { publicKey: key, now, taskId: task };
    const verdict = verifyArtifact(text, options);
    expect(verdict.valid).toBe(vector.expect === "valid");
    // Every verdict has proof levels, and a refused artifact the failed one.
    expect(verdict.checks.some(({ ok, code }) => !ok && code === verdict.code)).toBe(
      !verdict.valid,
    );
  },
);
