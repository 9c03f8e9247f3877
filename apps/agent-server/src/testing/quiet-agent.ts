import type { HomeLink } from "../agent.ts";
import { readConfig } from "../config.ts";
import { readFlags } from "../command-line.ts";
import type { Identity } from "../identity.ts";
import { chooseExecutor } from "../execution/choose-executor.ts";
import { silentLog } from "../log.ts";
import { createSignedTokenCheck } from "../http/signed-token.ts";
import { createFindSigner } from "../relay/find-signer.ts";
import { createIssuerKeys } from "../relay/issuer-keys.ts";
import { join, type Membership } from "../relay/join.ts";
import { systemRuntime } from "../runtime.ts";
import { startServer } from "./agent.ts";
import { newIdentity } from "./identity.ts";
import type { TestAgentOptions } from "./start.ts";
import { shout } from "./tools.ts";

/** An agent without a socket: only over MCP can its relay bring it work. */
export async function startQuietAgent(options: TestAgentOptions): Promise<{
  readonly identity: Identity;
  readonly membership: Membership;
  readonly url: URL;
  readonly stop: () => Promise<void>;
}> {
  const { relayUrl, identity = newIdentity(), tools = [shout], file = {} } = options;
  const read = readConfig({
    file: { path: "/config.json", text: JSON.stringify(file) },
    env: { AGENT_SYNC_URL: relayUrl },
    flags: readFlags([]).flags,
    workingDirectory: "/",
  });
  if (!read.ok) throw new Error(read.faults.join("; "));
  const { listing } = read.config;
  const executor = chooseExecutor(read.config, systemRuntime(silentLog));

  const runtime = systemRuntime(silentLog);
  let membership: Membership | undefined;
  const parts = { identity, membership: () => membership, runtime };
  const home: HomeLink = {
    deviceId: () => membership?.deviceId,
    hire: async () => ({ ok: false, error: "This agent hires nobody" }),
    keysOf: createIssuerKeys(parts),
    deliver: () => {},
    undelivered: () => undefined,
  };
  const findSigner = createFindSigner({ ...parts, agentId: identity.agentId });
  const checkSigned = createSignedTokenCheck({ identity, findSigner, runtime });
  const server = await startServer({ identity, tools, listing, home, executor }, checkSigned);
  const joined = await join({
    url: relayUrl,
    registrationToken: undefined,
    identity,
    profile: {
      name: "quiet",
      description: "",
      agentType: "service",
      capabilities: tools.map((tool) => tool.definition.name),
      listing,
    },
    endpointUrl: server.url.href,
    runtime,
  });
  if (!joined.ok) throw new Error(joined.message);
  ({ membership } = joined);
  return { identity, membership, url: server.url, stop: server.close };
}
