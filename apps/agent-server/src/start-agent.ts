import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createAgent, type Agent } from "./agent.ts";
import { owner } from "./caller.ts";
import type { Config } from "./config.ts";
import { chooseExecutor } from "./execution/choose-executor.ts";
import { agentCard } from "./http/agent-card.ts";
import { createHttpApp } from "./http/app.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { callerOf } from "./http/caller-info.ts";
import { allowedHostnames } from "./http/hosts.ts";
import { findKnown, type KnownAgents } from "./http/known-agents.ts";
import { listen } from "./http/listen.ts";
import { createSignedTokenCheck, firstSigner } from "./http/signed-token.ts";
import type { Identity } from "./identity.ts";
import { configuredOffer } from "./offer/configured-offer.ts";
import { announcedCapabilities, type Offer } from "./offer/offer.ts";
import { endpointUrl } from "./relay/endpoint.ts";
import { openApprovalsFile } from "./policy/approvals-file.ts";
import { openRecords, type Records } from "./records.ts";
import { confirmedToolsPath } from "./confirm-tools.ts";
import { faultOfConfirmed, openConfirmedTools } from "./proxy/confirmed-tools.ts";
import { connectServers } from "./proxy/connect-servers.ts";
import { openHome, type Home, type HomeOptions } from "./relay/home.ts";
import type { JoinResult } from "./relay/join.ts";
import type { Runtime } from "./runtime.ts";
import { serveStreams } from "./stdio.ts";
import type { RegisteredTool } from "./tools/registry.ts";

/** What a stopped agent is given to finish its work, then to hand its receipts over and to answer. */
const graceMs = 5_000;
const deliveryGraceMs = 2_000;
const answerGraceMs = 1_000;

export interface StartOptions {
  readonly config: Config;
  readonly identity: Identity;
  readonly tools: readonly RegisteredTool[];
  /** The owner's own file of agents. */
  readonly knownAgents?: KnownAgents | (() => KnownAgents);
  readonly version: string;
  readonly runtime: Runtime;
  /** The streams of the stdio transport. */
  readonly streams?: { readonly input: Readable; readonly output: Writable };
}

export interface RunningAgent {
  readonly agent: Agent;
  readonly home: Home | undefined;
  /** How the first attempt to join the relay ended; it is tried again if it failed. */
  readonly joined: Promise<JoinResult> | undefined;
  /** Where MCP is served over HTTP; absent on stdio. */
  readonly url: string | undefined;
  readonly stop: () => Promise<void>;
}

export type StartResult =
  | { readonly ok: true; readonly running: RunningAgent }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Starts an agent as its configuration says; the promise resolves when it can be reached. */
export async function startAgent(options: StartOptions): Promise<StartResult> {
  const { config, version, runtime } = options;
  const opened = openRecords(config, runtime);
  if (!opened.ok) return opened;
  const { records } = opened;
  const path = confirmedToolsPath(config);
  // Else every tool would count as new, and what has changed as confirmed.
  const wraps = Object.keys(config.mcpServers).length > 0;
  const fault = wraps ? faultOfConfirmed(path) : undefined;
  if (fault !== undefined) {
    records.close();
    return { ok: false, faults: [fault] };
  }
  const confirmed = openConfirmedTools(path, runtime);
  const servers = await connectServers(config.mcpServers, { version, runtime, confirmed });
  if (!servers.ok) {
    records.close();
    return servers;
  }
  const tools = [...options.tools, ...servers.tools];
  const decided = configuredOffer(config, tools);
  const started = decided.ok
    ? await startWithTools({ ...options, tools }, records, decided.offer)
    : decided;
  if (!started.ok) {
    await servers.close();
    records.close();
    return started;
  }
  const { running } = started;
  return {
    ok: true,
    running: {
      ...running,
      async stop() {
        await running.stop();
        await servers.close();
        records.close();
      },
    },
  };
}

async function startWithTools(
  options: StartOptions,
  records: Records,
  offer: Offer,
): Promise<StartResult> {
  const { config, identity, tools, version, runtime } = options;
  if (config.offer === "all") {
    const names = tools.map(({ definition }) => definition.name);
    runtime.log("warn", "offer.all", { tools: names });
  }
  const approvalsFile = await openApprovalsFile(
    join(config.identity.dataDir, "approvals.json"),
    runtime,
  );
  const home =
    config.relay && (await openHome(homeOptions(config.relay, options, { offer, approvalsFile })));
  const created = createAgent({
    identity,
    name: config.name,
    description: config.description,
    version,
    tools,
    policy: config.policy,
    audit: records.audit,
    approvalsFile,
    memory: records.memory,
    executor: chooseExecutor(config, runtime),
    listing: config.listing,
    offer,
    taskTimeoutMs: config.taskTimeoutMs,
    ...(home !== undefined && { home }),
    runtime,
  });
  if (!created.ok) return created;
  const { agent } = created;

  const door = await openDoor(agent, home, options, offer);
  if (!door.ok) return door;
  const joined = home?.start({
    work: agent.work,
    counts: agent.counts,
    endpointUrl: endpointUrl(config.server.publicUrl, door.url),
  });
  return {
    ok: true,
    running: {
      agent,
      home,
      joined,
      url: door.url,
      async stop() {
        await agent.work.stop(graceMs);
        await home?.stop(deliveryGraceMs);
        await door.close();
      },
    },
  };
}

function homeOptions(
  relay: NonNullable<Config["relay"]>,
  { config, identity, runtime }: StartOptions,
  { offer, approvalsFile }: Pick<HomeOptions, "approvalsFile"> & { readonly offer: Offer },
): HomeOptions {
  const { name, description, agentType, listing, taskTimeoutMs } = config;
  const capabilities = announcedCapabilities(offer, listing);
  const leftOut = offer.capabilities.size - capabilities.length;
  if (leftOut > 0) runtime.log("warn", "offer.too_many", { not_announced: leftOut });
  return {
    ...relay,
    taskTimeoutMs,
    quorum: config.quorum,
    identity,
    profile: { name, description, agentType, capabilities, listing },
    outboxPath: join(config.identity.dataDir, "outbox"),
    approvalsFile,
    runtime,
  };
}

type Door =
  | { readonly ok: true; readonly url: string | undefined; close(): Promise<void> }
  | { readonly ok: false; readonly faults: readonly string[] };

async function openDoor(
  agent: Agent,
  home: Home | undefined,
  { config, streams, tools, version, knownAgents = new Map(), runtime }: StartOptions,
  offer: Offer,
): Promise<Door> {
  const { server } = config;
  if (server.transport === "stdio") {
    if (streams === undefined) throw new Error("the stdio transport needs its streams");
    const connection = serveStreams({ ...streams, newServer: () => agent.newServer(() => owner) });
    return { ok: true, url: undefined, close: () => connection.close() };
  }
  const { name, description, listing } = config;
  let listening: string | undefined;
  const card = () =>
    agentCard({
      identity: agent.identity,
      name,
      description,
      version,
      tools: tools.map((tool) => tool.definition),
      offer,
      listing,
      mcpUrl: endpointUrl(server.publicUrl, listening) ?? "",
      secured: !server.allowAnonymous,
    });
  const app = createHttpApp({
    agentId: agent.identity.agentId,
    allowedHostnames: allowedHostnames(server),
    authenticate: createAuthenticate({
      ...server,
      checkSigned: createSignedTokenCheck({
        identity: agent.identity,
        findSigner: firstSigner(
          findKnown(typeof knownAgents === "function" ? knownAgents : () => knownAgents),
          ...(home === undefined ? [] : [home.findSigner]),
        ),
        runtime,
      }),
    }),
    newServer: () => agent.newServer(callerOf),
    answerCall: agent.answerCall,
    approvals: agent.approvals,
    card,
    runtime,
  });
  try {
    const listener = await listen(app, server, runtime);
    listening = `${listener.url}/mcp`;
    return {
      ok: true,
      url: listening,
      async close() {
        await listener.close(answerGraceMs);
        await app.close();
      },
    };
  } catch (cause) {
    return {
      ok: false,
      faults: [`cannot listen on ${server.host}:${server.port}: ${String(cause)}`],
    };
  }
}
