import type { RelayFeatures } from "../../relay/relay-features.ts";
import { readConfig } from "../../config/config.ts";
import { parseFlags } from "../../config/parse-flags.ts";
import type { Identity } from "../../identity/identity.ts";
import { chooseExecutor } from "../../execution/executors/choose-executor.ts";
import { silentLog } from "../../log.ts";
import { createSignedTokenCheck } from "../../http/authentication/check-signed-token.ts";
import { createFindSigner } from "../../relay/intake/find-signer.ts";
import { createIsWanted } from "../../relay/intake/is-wanted.ts";
import { createFindIssuerKey } from "../../relay/intake/find-issuer-key.ts";
import { joinRelay, type Membership } from "../../relay/membership/join-relay.ts";
import { createReleaseClaim } from "../../relay/intake/release-claim.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { startTestServer } from "./test-agent.ts";
import { createTestIdentity } from "./test-identity.ts";
import type { TestAgentOptions } from "./start-agent.ts";
import { shoutTool } from "../tools/test-tools.ts";

/** An agent without a socket, to which its relay can send tasks only over MCP. */
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
    delegateTask: async () => ({ ok: false, error: "This agent does not delegate" }),
    findIssuerKey: createFindIssuerKey(parts),
    deliverWork: async () => {},
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
