import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseFlags } from "../../config/parse-flags.ts";
import { readConfig } from "../../config/config.ts";
import type { KnownAgents } from "../../http/authentication/known-agents.ts";
import type { Identity } from "../../identity/identity.ts";
import { silentLog, type Log } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { startAgent, type RunningAgent, type StartResult } from "../../start-agent.ts";
import type { RegisteredTool } from "../../tools/registry.ts";
import { createTestIdentity } from "./test-identity.ts";
import { shoutTool } from "../tools/test-tools.ts";

export interface StandaloneOptions {
  readonly tools?: readonly RegisteredTool[];
  readonly identity?: Identity;
  /** Members of the configuration file. */
  readonly file?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly knownAgents?: KnownAgents | (() => KnownAgents);
  /** Flags of the command. */
  readonly args?: readonly string[];
  readonly log?: Log;
  /** Sends the requests of the agent; absent: the network. */
  readonly fetch?: typeof fetch;
  /** Absent: the clock of the system. */
  readonly now?: () => number;
}

export interface TestAgentOptions extends StandaloneOptions {
  readonly relayUrl: string;
}

/** Starts an agent on a free port as the command does. */
export async function startTestAgent(options: TestAgentOptions): Promise<RunningAgent> {
  const { relayUrl, env, ...rest } = options;
  const started = await startFromConfig({ ...rest, env: { AGENT_SYNC_URL: relayUrl, ...env } });
  if (!started.ok) throw new Error(started.faults.join("; "));
  return started.running;
}

/** Starts an agent without a relay; "secret" is its owner's token. */
export function startStandaloneAgent(options: StandaloneOptions = {}): Promise<StartResult> {
  return startFromConfig({ env: { AGENT_AUTH_TOKEN: "secret" }, ...options });
}

async function startFromConfig(options: StandaloneOptions): Promise<StartResult> {
  const {
    tools = [shoutTool],
    identity = createTestIdentity(),
    file = {},
    env = {},
    args = [],
  } = options;
  const dataDir = mkdtempSync(join(tmpdir(), "agent-"));
  const deleteDataDir = () => rmSync(dataDir, { recursive: true });
  const read = readConfig({
    file: { path: "/config.json", text: JSON.stringify({ port: 0, syncIntervalMs: 100, ...file }) },
    env: { AGENT_DATA_DIR: dataDir, ...env },
    flags: parseFlags(args).flags,
    workingDirectory: "/",
  });
  if (!read.ok) {
    deleteDataDir();
    return read;
  }
  const started = await startAgent({
    config: read.config,
    identity,
    tools,
    ...(options.knownAgents !== undefined && { knownAgents: options.knownAgents }),
    version: "0.0.0",
    runtime: {
      ...createSystemRuntime(options.log ?? silentLog),
      ...(options.fetch !== undefined && { fetch: options.fetch }),
      ...(options.now !== undefined && { now: options.now }),
    },
  });
  if (!started.ok) {
    deleteDataDir();
    return started;
  }
  const { running } = started;
  return {
    ok: true,
    running: {
      ...running,
      async stop() {
        await running.stop();
        deleteDataDir();
      },
    },
  };
}

/** Starts an agent and waits until its relay knows it. */
export async function startJoinedAgent(options: TestAgentOptions): Promise<RunningAgent> {
  const running = await startTestAgent(options);
  const joined = await running.joined;
  if (joined?.ok !== true) throw new Error(joined?.message ?? "no relay");
  return running;
}
