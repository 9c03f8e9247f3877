import { createAgent, type Agent, type AgentOptions } from "../../agent.ts";
import { createHttpApp, type HttpApp } from "../../http/app.ts";
import {
  createAuthenticator,
  type CheckSignedToken,
} from "../../http/authentication/authenticate.ts";
import { getCaller } from "../../http/authentication/caller-info.ts";
import { startListener } from "../../http/listener.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestIdentity } from "./test-identity.ts";
import { shoutTool } from "../tools/test-tools.ts";

export const TEST_TOKEN = "test-token";

/** Creates an agent with default parts, except those that a test gives. */
export function createTestAgent(options: Partial<AgentOptions> = {}): Agent {
  const created = createAgent({
    identity: createTestIdentity(),
    name: "tester",
    description: "An agent under test",
    version: "0.0.0",
    tools: [shoutTool],
    runtime: createSystemRuntime(silentLog),
    ...options,
  });
  if (!created.ok) throw new Error(created.faults.join("; "));
  return created.agent;
}

const rejectAllTokens: CheckSignedToken = async () => ({ ok: false, code: "auth.unknown_caller" });

export function createTestApp(
  agent: Agent,
  options: { authToken?: string; allowAnonymous?: boolean; checkSigned?: CheckSignedToken } = {},
): HttpApp {
  const { authToken = TEST_TOKEN, allowAnonymous = false, checkSigned = rejectAllTokens } = options;
  return createHttpApp({
    agentId: agent.identity.agentId,
    allowedHostnames: ["127.0.0.1", "localhost"],
    authenticate: createAuthenticator({
      authToken,
      allowAnonymous,
      trustedProxies: [],
      checkSigned,
    }),
    newServer: () => agent.newServer(getCaller),
    answerCall: agent.answerCall,
    approvals: agent.approvals,
    runtime: createSystemRuntime(silentLog),
  });
}

export interface TestServer {
  readonly agent: Agent;
  readonly url: URL;
  readonly close: (graceMs?: number) => Promise<void>;
}

/** Serves such an agent on a real socket. */
export async function startTestServer(
  options: Partial<AgentOptions> = {},
  checkSigned?: CheckSignedToken,
): Promise<TestServer> {
  const agent = createTestAgent(options);
  const app = createTestApp(agent, checkSigned === undefined ? {} : { checkSigned });
  const address = { host: "127.0.0.1", port: 0 };
  const listener = await startListener(app, address, createSystemRuntime(silentLog));
  return {
    agent,
    url: new URL(`${listener.url}/mcp`),
    async close(graceMs = 0) {
      await listener.close(graceMs);
      await app.close();
    },
  };
}
