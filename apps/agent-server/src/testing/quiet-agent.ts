import type { RelayFeatures } from "../agent.ts";
import { readConfig } from "../config.ts";
import { parseFlags } from "../command-line.ts";
import type { Identity } from "../identity.ts";
import { chooseExecutor } from "../execution/choose-executor.ts";
import { silentLog } from "../log.ts";
import { createSignedTokenCheck } from "../http/signed-token.ts";
import { createFindSigner } from "../relay/find-signer.ts";
import { createIsWanted } from "../relay/is-wanted.ts";
import { createGetIssuerKeys } from "../relay/issuer-keys.ts";
import { joinRelay, type Membership } from "../relay/join.ts";
import { createReleaseClaim } from "../relay/release-claim.ts";
import { createSystemRuntime } from "../runtime.ts";
import { startTestServer } from "./agent.ts";
import { createTestIdentity } from "./identity.ts";
import type { TestAgentOptions } from "./start.ts";
import { shoutTool } from "./tools.ts";

/** An agent without a socket: only over MCP can its relay bring it work. */
export async function startAgentWithoutSocket(options: TestAgentOptions): Promise<{
  readonly identity: Identity;
  readonly membership: Membership;
  readonly url: URL;
  readonly stop: () => Promise<void>;
}> {
  const { relayUrl, identity = createTestIdentity(), tools = [shoutTool], file = {} } = options;
  const read = readConfig({
    file: { path: "/config.json", text: JSON.stringify(file) },
    env: { AGENT_SYNC_URL: relayUrl },
    flags: parseFlags([]).flags,
    workingDirectory: "/",
  });
  if (!read.ok) throw new Error(read.faults.join("; "));
  const { listing } = read.config;
  const executor = chooseExecutor(read.config, createSystemRuntime(silentLog));

  const runtime = createSystemRuntime(silentLog);
  let membership: Membership | undefined;
  const parts = { identity, membership: () => membership, runtime };
  const clientParts = { agentId: identity.agentId, client: () => membership?.client, runtime };
  const relay: RelayFeatures = {
    deviceId: () => membership?.deviceId,
    delegateTask: async () => ({ ok: false, error: "This agent hires nobody" }),
    getIssuerKeys: createGetIssuerKeys(parts),
    deliverReceipt: () => {},
    findUndelivered: () => undefined,
    isWanted: createIsWanted(clientParts),
    releaseClaim: createReleaseClaim(clientParts),
  };
  const findSigner = createFindSigner({ ...parts, agentId: identity.agentId });
  const checkSigned = createSignedTokenCheck({ identity, findSigner, runtime });
  const server = await startTestServer({ identity, tools, listing, relay, executor }, checkSigned);
  const joined = await joinRelay({
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
