import { createAgent, type Agent, type AgentOptions } from "../agent.ts";
import { createHttpApp, type HttpApp } from "../http/app.ts";
import { createAuthenticate, type CheckSignedToken } from "../http/authenticate.ts";
import { callerOf } from "../http/caller-info.ts";
import { listen } from "../http/listen.ts";
import { silentLog } from "../log.ts";
import { systemRuntime } from "../runtime.ts";
import { newIdentity } from "./identity.ts";
import { shout } from "./tools.ts";

export const token = "test-token";

/** An agent whose only unusual parts are those that a test names. */
export function newAgent(options: Partial<AgentOptions> = {}): Agent {
  const created = createAgent({
    identity: newIdentity(),
    name: "tester",
    description: "An agent under test",
    version: "0.0.0",
    tools: [shout],
    runtime: systemRuntime(silentLog),
    ...options,
  });
  if (!created.ok) throw new Error(created.faults.join("; "));
  return created.agent;
}

const knowsNobody: CheckSignedToken = async () => ({ ok: false, code: "auth.unknown_caller" });

export function newApp(
  agent: Agent,
  options: { authToken?: string; allowAnonymous?: boolean; checkSigned?: CheckSignedToken } = {},
): HttpApp {
  const { authToken = token, allowAnonymous = false, checkSigned = knowsNobody } = options;
  return createHttpApp({
    agentId: agent.identity.agentId,
    allowedHostnames: ["127.0.0.1", "localhost"],
    authenticate: createAuthenticate({ authToken, allowAnonymous, checkSigned }),
    newServer: () => agent.newServer(callerOf),
    answerCall: agent.answerCall,
    approvals: agent.approvals,
    runtime: systemRuntime(silentLog),
  });
}

export interface TestServer {
  readonly agent: Agent;
  readonly url: URL;
  readonly close: (graceMs?: number) => Promise<void>;
}

/** The same over a real socket. */
export async function startServer(
  options: Partial<AgentOptions> = {},
  checkSigned?: CheckSignedToken,
): Promise<TestServer> {
  const agent = newAgent(options);
  const app = newApp(agent, checkSigned === undefined ? {} : { checkSigned });
  const address = { host: "127.0.0.1", port: 0 };
  const listener = await listen(app, address, systemRuntime(silentLog));
  return {
    agent,
    url: new URL(`${listener.url}/mcp`),
    async close(graceMs = 0) {
      await listener.close(graceMs);
      await app.close();
    },
  };
}
