import { isSecretName } from "@agent/wire";
import type { Config } from "./config.ts";

/** Shorter texts occur in ordinary words, which a log must not redact. */
const MIN_SECRET_LENGTH = 6;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Lists the values that must be redacted anywhere in a log: those of the configuration, and those of the process's
 * environment, because tools modules read their own secrets there.
 */
export function listSecrets(config: Config, env: Environment): readonly string[] {
  const { identity, server, relay, llm, memory, mcpServers } = config;
  const serverSecrets = Object.values(mcpServers).flatMap((address) =>
    "url" in address
      ? Object.values(address.headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")])
      : Object.entries(address.env).flatMap(([name, value]) => (isSecretName(name) ? [value] : [])),
  );
  return [
    identity.passphrase,
    identity.privateKeyHex,
    server.authToken,
    relay?.registrationToken,
    llm?.apiKey,
    memory.embeddings?.apiKey,
    ...serverSecrets,
    ...Object.entries(env).flatMap(([name, value]) => (isSecretName(name) ? listParts(value) : [])),
  ].filter((value) => value !== undefined && value.length >= MIN_SECRET_LENGTH) as string[];
}

/** Lists a value and, where it holds two tokens, one of which replaces the other, each of them. */
function listParts(value = ""): string[] {
  return [value, ...value.split(",").map((part) => part.trim())];
}
