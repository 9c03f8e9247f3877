import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createAgent, type Agent } from "./agent.ts";
import { owner } from "./caller.ts";
import type { Config } from "./config/config.ts";
import { chooseExecutor } from "./execution/executors/choose-executor.ts";
import { buildAgentCard } from "./http/agent-card.ts";
import { createHttpApp } from "./http/app.ts";
import { createAuthenticator } from "./http/authentication/authenticate.ts";
import { getCaller } from "./http/authentication/caller-info.ts";
import { listAllowedHostnames } from "./http/allowed-hostnames.ts";
import {
  createKnownLevelFinder,
  createKnownSignerLookup,
  type KnownAgents,
} from "./http/authentication/known-agents.ts";
import { startListener } from "./http/listener.ts";
import {
  createSignedTokenCheck,
  combineSignerLookups,
} from "./http/authentication/check-signed-token.ts";
import type { Identity } from "./identity/identity.ts";
import { decideConfiguredOffer } from "./offer/decide-configured-offer.ts";
import { listPublishedCapabilities, type Offer } from "./offer/offer.ts";
import { buildEndpointUrl } from "./relay/endpoint-url.ts";
import { openApprovalsFile } from "./policy/approvals-file.ts";
import { openRecords, type Records } from "./records.ts";
import { buildConfirmedToolsPath } from "./config/confirm-tools.ts";
import { checkConfirmedTools, openConfirmedTools } from "./proxy/confirmed-tools.ts";
import { connectServers } from "./proxy/connect-servers.ts";
import { connectToRelay, type RelayLink, type RelayLinkOptions } from "./relay/relay-link.ts";
import type { JoinResult } from "./relay/membership/join-relay.ts";
import type { Runtime } from "./runtime.ts";
import { serveStdioStreams } from "./stdio.ts";
import type { RegisteredTool } from "./tools/registry.ts";

/**
 * The time limits of a stopping agent: to finish its work, then to deliver receipts, then to answer.
 */
const WORK_GRACE_MS = 5_000;
const DELIVERY_GRACE_MS = 2_000;
const ANSWER_GRACE_MS = 1_000;

export interface StartOptions {
  readonly config: Config;
  readonly identity: Identity;
  readonly tools: readonly RegisteredTool[];
  /** The agents of the owner's file. */
  readonly knownAgents?: KnownAgents | (() => KnownAgents);
  readonly version: string;
  readonly runtime: Runtime;
  /** The streams of the stdio transport. */
  readonly streams?: { readonly input: Readable; readonly output: Writable };
}

export interface RunningAgent {
  readonly agent: Agent;
  readonly relayLink: RelayLink | undefined;
  /** The result of the first attempt to join the relay; a failed one is retried. */
  readonly joined: Promise<JoinResult> | undefined;
  /** The URL of MCP over HTTP; absent on stdio. */
  readonly url: string | undefined;
  readonly stop: () => Promise<void>;
}

export type StartResult =
  | { readonly ok: true; readonly running: RunningAgent }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Starts an agent from its configuration; resolves when the agent can be reached. */
export async function startAgent(options: StartOptions): Promise<StartResult> {
  const { config, version, runtime } = options;
  const opened = openRecords(config, runtime);
  if (!opened.ok) return opened;
  const { records } = opened;
  const path = buildConfirmedToolsPath(config);
  // Without the file every tool would count as new, and changed tools as confirmed.
  const hasWrappedServers = Object.keys(config.mcpServers).length > 0;
  const fault = hasWrappedServers ? checkConfirmedTools(path) : undefined;
  if (fault !== undefined) {
    records.close();
    return { ok: false, faults: [fault] };
  }
  const confirmedTools = openConfirmedTools(path, runtime);
  const servers = await connectServers(config.mcpServers, {
    version,
    runtime,
    confirmed: confirmedTools,
  });
  if (!servers.ok) {
    records.close();
    return servers;
  }
  const tools = [...options.tools, ...servers.tools];
  const resolvedOffer = decideConfiguredOffer(config, tools);
  const started = resolvedOffer.ok
    ? await startWithTools({ ...options, tools }, records, resolvedOffer.offer)
    : resolvedOffer;
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
  const relayLink =
    config.relay &&
    (await connectToRelay(buildRelayLinkOptions(config.relay, options, { offer, approvalsFile })));
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
    signsLedgers: config.ledgers,
    ...(relayLink !== undefined && { relay: relayLink }),
    findKnownLevel: createKnownLevelFinder(toReader(options.knownAgents)),
    runtime,
  });
  if (!created.ok) return created;
  const { agent } = created;

  const endpoint = await openEndpoint(agent, relayLink, options, offer);
  if (!endpoint.ok) return endpoint;
  const joined = relayLink?.start({
    work: agent.work,
    counts: agent.counts,
    endpointUrl: buildEndpointUrl(config.server.publicUrl, endpoint.url),
  });
  return {
    ok: true,
    running: {
      agent,
      relayLink,
      joined,
      url: endpoint.url,
      async stop() {
        await agent.work.stop(WORK_GRACE_MS);
        await relayLink?.stop(DELIVERY_GRACE_MS);
        await endpoint.close();
      },
    },
  };
}

function buildRelayLinkOptions(
  relay: NonNullable<Config["relay"]>,
  { config, identity, runtime }: StartOptions,
  { offer, approvalsFile }: Pick<RelayLinkOptions, "approvalsFile"> & { readonly offer: Offer },
): RelayLinkOptions {
  const { name, description, agentType, listing, taskTimeoutMs } = config;
  const capabilities = listPublishedCapabilities(offer, listing);
  const unpublishedCount = offer.capabilities.size - capabilities.length;
  if (unpublishedCount > 0)
    runtime.log("warn", "offer.too_many", { not_announced: unpublishedCount });
  return {
    ...relay,
    taskTimeoutMs,
    delegation: config.delegation,
    quorum: config.quorum,
    identity,
    profile: { name, description, agentType, capabilities, listing },
    outboxPath: join(config.identity.dataDir, "outbox"),
    attemptsPath: join(config.identity.dataDir, "attempts.json"),
    delegationsPath: join(config.identity.dataDir, "delegations.json"),
    ordersPath: join(config.identity.dataDir, "orders"),
    receiptHashesPath: join(config.identity.dataDir, "signed.log"),
    monitorPath: join(config.identity.dataDir, "monitor"),
    approvalsFile,
    runtime,
  };
}

function toReader(knownAgents: StartOptions["knownAgents"] = new Map()): () => KnownAgents {
  return typeof knownAgents === "function" ? knownAgents : () => knownAgents;
}

type Endpoint =
  | { readonly ok: true; readonly url: string | undefined; close(): Promise<void> }
  | { readonly ok: false; readonly faults: readonly string[] };

async function openEndpoint(
  agent: Agent,
  relayLink: RelayLink | undefined,
  { config, streams, tools, version, knownAgents, runtime }: StartOptions,
  offer: Offer,
): Promise<Endpoint> {
  const { server } = config;
  if (server.transport === "stdio") {
    if (streams === undefined) throw new Error("stdio transport started without streams");
    const connection = serveStdioStreams({
      ...streams,
      newServer: () => agent.newServer(() => owner),
    });
    return { ok: true, url: undefined, close: () => connection.close() };
  }
  const { name, description, listing } = config;
  let listeningUrl: string | undefined;
  const buildCard = () =>
    buildAgentCard({
      identity: agent.identity,
      name,
      description,
      version,
      tools: tools.map((tool) => tool.definition),
      offer,
      listing,
      mcpUrl: buildEndpointUrl(server.publicUrl, listeningUrl) ?? "",
      requiresAuth: !server.allowAnonymous,
    });
  const app = createHttpApp({
    agentId: agent.identity.agentId,
    allowedHostnames: listAllowedHostnames(server),
    authenticate: createAuthenticator({
      ...server,
      checkSigned: createSignedTokenCheck({
        identity: agent.identity,
        findSigner: combineSignerLookups(
          createKnownSignerLookup(toReader(knownAgents)),
          ...(relayLink === undefined ? [] : [relayLink.findSigner]),
        ),
        runtime,
      }),
    }),
    newServer: () => agent.newServer(getCaller),
    answerCall: agent.answerCall,
    approvals: agent.approvals,
    card: buildCard,
    runtime,
  });
  try {
    const listener = await startListener(app, server, runtime);
    listeningUrl = `${listener.url}/mcp`;
    return {
      ok: true,
      url: listeningUrl,
      async close() {
        await listener.close(ANSWER_GRACE_MS);
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
