import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "./processes.ts";

/** The compile cache of Node.js, if it is set, as it is in the tests. */
const { NODE_COMPILE_CACHE } = process.env;
const compileCacheEnv: Program["env"] =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

/** Loopback only, without a wallet. */
const relayEnv: Program["env"] = {
  ...compileCacheEnv,
  X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  AGENT_HOST: "127.0.0.1",
};

/** Builds the program of a relay on a random port, with its database in `dataDir`. */
export function buildRelayProgram(masterToken: string, dataDir: string): Program {
  return {
    name: "relay",
    main: resolveMain("@agent/relay"),
    env: {
      ...relayEnv,
      AGENT_API_TOKEN: masterToken,
      PORT: "0",
      AGENT_DB_PATH: join(dataDir, "relay.db"),
      AGENT_RELAY_KEY_PASSPHRASE: createSecret(),
    },
  };
}

/** Builds the program of one of several processes of a relay, on a random port. */
export function buildMemberProgram({
  name,
  env,
}: {
  readonly name: string;
  /** The variables that all processes share. */
  readonly env: Program["env"];
}): Program {
  return {
    name,
    main: resolveMain("@agent/relay"),
    env: { ...relayEnv, PORT: "0", AGENT_PROCESS_NAME: name, ...env },
  };
}

interface PeerRelay {
  readonly name: string;
  readonly port: number;
  readonly masterToken: string;
  readonly dataDir: string;
  readonly env: Program["env"];
}

/** Builds the program of a relay in the network, with a fixed port and a persistent database. */
export function buildPeerRelayProgram({
  name,
  port,
  masterToken,
  dataDir,
  env,
}: PeerRelay): Program {
  return {
    name,
    main: resolveMain("@agent/relay"),
    env: {
      ...relayEnv,
      AGENT_API_TOKEN: masterToken,
      PORT: String(port),
      AGENT_DB_PATH: join(dataDir, `${name}.db`),
      AGENT_RELAY_NAME: name,
      AGENT_FEDERATION_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
      AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: "1500",
      AGENT_FEDERATION_RETRY_SCALE: "0.03",
      AGENT_LOG_WITNESS_INTERVAL_MS: "1000",
      AGENT_RATE_LIMIT_SCALE: "0",
      ...env,
    },
  };
}

/** The `main.ts` of a relay that shows its readers a different log than its witness. */
export const LIAR_MAIN = fileURLToPath(
  new URL("../test/processes/edited-relay-process.ts", import.meta.resolve("@agent/relay")),
);

/**
 * Builds the program of an agent server on a random port, with the tools and prices of `agents/<name>.json`. It
 * creates and registers its own key, so it does not get the master token.
 */
export function buildAgentProgram(name: string, relayUrl: string, dataDir: string): Program {
  return {
    name,
    main: resolveMain("@agent/agent-server"),
    args: ["--config", fileURLToPath(new URL(`../../agents/${name}.json`, import.meta.url))],
    env: {
      ...compileCacheEnv,
      AGENT_SYNC_URL: relayUrl,
      AGENT_PORT: "0",
      AGENT_DATA_DIR: join(dataDir, name),
      AGENT_PASSPHRASE: createSecret(),
    },
  };
}

/** Creates a secret for this run only. */
export function createSecret(): string {
  return randomBytes(32).toString("hex");
}

/** Resolves the `main.ts` of a package. */
function resolveMain(packageName: string): string {
  return fileURLToPath(new URL("main.ts", import.meta.resolve(packageName)));
}
