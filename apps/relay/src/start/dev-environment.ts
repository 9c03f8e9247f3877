import { bytesToHex } from "@agent/crypto";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Creates the environment of `agent-relay dev`: in memory, on this machine only, with its own token. Only
 * PORT is taken from the given environment, because that may belong to a real relay.
 */
export function createDevEnvironment(
  { PORT }: Environment,
  randomBytes: (length: number) => Uint8Array,
): Record<string, string> {
  return {
    AGENT_API_TOKEN: bytesToHex(randomBytes(16)),
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
    AGENT_HOST: "127.0.0.1",
    PORT: PORT ?? "0",
    AGENT_RELAY_NAME: "dev",
    LOG_LEVEL: "error",
  };
}
