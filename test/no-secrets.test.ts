import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** The formats of providers' secrets. */
const SECRET_FORMS: Readonly<Record<string, RegExp>> = {
  "a private key": /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/,
  "an AWS access key": /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  "a GitHub token": /\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{60}/,
  "an npm token": /\bnpm_[A-Za-z0-9]{36}\b/,
  "a Slack token": /\bxox[abprs]-[0-9A-Za-z-]{20}/,
  "a live Stripe key": /\b[rs]k_live_[0-9A-Za-z]{16}/,
  "a Google key": /\bAIza[0-9A-Za-z_-]{35}\b/,
  "a model provider's key": /\bsk-(?:ant-|proj-)[A-Za-z0-9_-]{24}/,
  "a password in an address":
    /\bhttps?:\/\/[^\s/:@"'`$<{]+:(?!token@|password@|secret@)[^\s/:@"'`$<{]{12,}@/,
};

function findSecrets(text: string): string[] {
  return Object.entries(SECRET_FORMS).flatMap(([name, form]) => (form.test(text) ? [name] : []));
}

const MAX_SCANNED_BYTES = 4_194_304;

describe("secrets", () => {
  it("H14: no tracked file contains a secret", () => {
    const root = new URL("../", import.meta.url);
    const listed = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
    const files = listed.split("\0").filter((file) => file !== "");
    expect(files.length).toBeGreaterThan(1_000);
    const found = files.flatMap((file) => {
      const path = new URL(file, root);
      const status = statSync(path, { throwIfNoEntry: false });
      if (status?.isFile() !== true || status.size > MAX_SCANNED_BYTES) return [];
      return findSecrets(readFileSync(path, "latin1")).map((name) => `${file}: ${name}`);
    });
    expect(found).toEqual([]);
  });

  // Assembled here, so that this file contains none of them.
  it.each([
    ["a private key", `-----BEGIN ${"PRIVATE KEY"}-----\n${"M".repeat(64)}`],
    ["an AWS access key", `AKIA${"A1".repeat(8)}`],
    ["a GitHub token", `ghp_${"a".repeat(36)}`],
    ["an npm token", `npm_${"a".repeat(36)}`],
    ["a Slack token", `xoxb-${"1".repeat(20)}`],
    ["a live Stripe key", `sk_live_${"a".repeat(24)}`],
    ["a Google key", `AIza${"a".repeat(35)}`],
    ["a model provider's key", `sk-ant-${"a".repeat(30)}`],
    ["a password in an address", `https://admin:${"a1b2".repeat(5)}@example.org`],
  ])("H14: the scan for secrets finds %s", (name, text) => {
    expect(findSecrets(`before ${text} after`)).toEqual([name]);
  });

  it.each([
    "sk_test_1234567890abcdef1234",
    "-----BEGIN PUBLIC KEY-----",
    "https://example.org:8443/path@home",
    "test-master-token-0123456789",
  ])("H14: the scan for secrets accepts %s", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });
});
