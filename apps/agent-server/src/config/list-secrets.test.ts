import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { listSecrets } from "./list-secrets.ts";
import { parseFlags } from "./parse-flags.ts";

const env = {
  AGENT_AUTH_TOKEN: "the-token-of-the-owner",
  MAPS_API_KEY: "the-key-of-a-tools-module",
  AGENT_API_TOKEN: "the-old-token-of-the-relay, the-new-token-of-the-relay",
  DB_PASSWORD: "short",
  HOME: "/home/agent",
};

test("the secrets of a log are those of the configuration and those that the environment gives to tools modules", () => {
  const read = readConfig({ env, flags: parseFlags([]).flags, workingDirectory: "/" });
  if (!read.ok) throw new Error(read.faults.join("; "));
  const secrets = listSecrets(read.config, env);
  expect(secrets).toContain("the-token-of-the-owner");
  expect(secrets).toContain("the-key-of-a-tools-module");
  expect(secrets).toContain("the-old-token-of-the-relay");
  expect(secrets).toContain("the-new-token-of-the-relay");
  expect(secrets).not.toContain("/home/agent");
  // Texts of fewer than six characters occur in ordinary words.
  expect(secrets).not.toContain("short");
});
