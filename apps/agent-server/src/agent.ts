import type { ExecutionReceipt } from "@agent/receipts";
import type { ListingBody } from "@agent/wire";
import type { BaseContext, Server } from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import { createActivity } from "./execution/activity.ts";
import { createConverse } from "./execution/converse.ts";
import type { Hire } from "./execution/delegation.ts";
import { directExecutor } from "./execution/direct.ts";
import type { Executor } from "./execution/executor.ts";
import { createTaskRunner } from "./execution/run-task.ts";
import { createMandates, type KeysOf } from "./execution/mandate.ts";
import { createWork, type Deliver, type Work } from "./execution/work.ts";
import type { OwnCounts } from "./gradient/counts.ts";
import { createTally } from "./gradient/tally.ts";
import { identityTag } from "./identity-tag.ts";
import type { Identity } from "./identity.ts";
import { hashedNgrams } from "./memory/hashed-ngrams.ts";
import type { Memory } from "./memory/memory.ts";
import { openMemory } from "./memory/open-memory.ts";
import { decideOffer, isOffered, type Offer, type OfferResult } from "./offer/offer.ts";
import { createApprovals, type Approvals, type Approver } from "./policy/approvals.ts";
import type { ApprovalsFile } from "./policy/approvals-file.ts";
import { keepApprovals } from "./policy/keep-approvals.ts";
import { auditToLog, type Audit } from "./policy/audit.ts";
import { createGate, defaultPolicy, unknownNames, type Policy } from "./policy/gate.ts";
import { createGuard } from "./policy/guard.ts";
import { agentPrompts } from "./prompts/index.ts";
import { agentResources } from "./resources/index.ts";
import type { Runtime } from "./runtime.ts";
import { createMcpServers, type AnswerCall } from "./server.ts";
import type { CredentialSource } from "./tools/agent-credentials.ts";
import { createToolCaller } from "./tools/call-tool.ts";
import { syntheticTools } from "./tools/index.ts";
import { collisionsOf, createRegistry, type RegisteredTool } from "./tools/registry.ts";

/** What the relay adds to an agent; absent when it works without one. */
export interface HomeLink {
  /** The device id that the relay gave to the agent's key, once it is known there. */
  deviceId(): string | undefined;
  readonly hire: Hire;
  /** Of the issuers of delegation tokens. */
  readonly keysOf: KeysOf;
  readonly deliver: Deliver;
  /** The receipt of a relay task that was done, in this run or the last, and is still on its way. */
  readonly undelivered: (relayTaskId: string) => ExecutionReceipt | undefined;
  /** Whether the relay still waits for a task whose call was closed; absent: it does not. */
  readonly isWanted?: (relayTaskId: string) => Promise<boolean>;
  readonly credentials?: CredentialSource;
  /** Asked in the owner's place about calls that need an approval. */
  readonly approver?: Approver;
  /** As in the newest gradient credential, 0 to 1. */
  readonly gradient?: () => number | null;
}

export interface AgentOptions {
  readonly identity: Identity;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly tools: readonly RegisteredTool[];
  /** What the agent asks for its capabilities, where it does. */
  readonly listing?: ListingBody | undefined;
  /** Which tools others may have run; absent: the listing decides, without one the agent's own tools. */
  readonly offer?: Offer | undefined;
  readonly policy?: Policy;
  /** Where the owner's approvals are kept; absent: they end with the process. */
  readonly approvalsFile?: ApprovalsFile;
  /** Absent: the lines go to the ordinary log. */
  readonly audit?: Audit;
  /** Absent: a memory of this process only. */
  readonly memory?: Memory;
  readonly executor?: Executor;
  readonly taskTimeoutMs?: number;
  readonly home?: HomeLink;
  readonly runtime: Runtime;
}

export interface Agent {
  readonly identity: Identity;
  readonly work: Work;
  readonly counts: () => OwnCounts;
  /** The calls that wait for the owner's word. */
  readonly approvals: Approvals;
  /** Makes an MCP server object; `callerOf` says who stands behind each of its requests. */
  readonly newServer: (callerOf: (context: BaseContext) => Caller) => Server;
  /** Answers one tool call without such an object. */
  readonly answerCall: AnswerCall;
}

export type CreateAgentResult =
  | { readonly ok: true; readonly agent: Agent }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Puts an agent together from its parts; it listens to nobody yet. */
export function createAgent(options: AgentOptions): CreateAgentResult {
  const { identity, home, runtime, tools, taskTimeoutMs = 300_000 } = options;
  const executor = options.executor ?? directExecutor;
  const decided = offerOf(options, executor);
  if (!decided.ok) return decided;
  const { offer } = decided;
  // Executors see the owner's tools only: a task that starts tasks would have no end.
  const own = createRegistry(tools);

  const { approvalsFile } = options;
  const approvals =
    approvalsFile === undefined ? createApprovals(runtime) : keepApprovals(approvalsFile, runtime);
  const policy = options.policy ?? defaultPolicy;
  const guard = createGuard({
    // What every agent has (identity, memory, prompts, ...) is not the owner's to offer.
    gate: createGate(policy, {
      listed: offer.listed,
      isOffered: ({ tool, caller, task }) =>
        own.get(tool.name) === undefined ||
        isOffered(offer, tool.name, {
          caller,
          requiredCapabilities: task?.requiredCapabilities ?? [],
        }),
    }),
    approver: home?.approver ?? approvals,
    audit: options.audit ?? auditToLog(runtime),
    runtime,
  });

  const opened =
    options.memory === undefined
      ? openMemory({ path: ":memory:", embedder: hashedNgrams, runtime })
      : { ok: true as const, memory: options.memory };
  if (!opened.ok) return { ok: false, faults: [opened.fault] };
  const tally = createTally();
  const memory = tally.memory(opened.memory);

  const activity = createActivity();
  const runTask = createTaskRunner({
    identity,
    deviceId: () => home?.deviceId() ?? identity.agentId,
    tools: () => own.definitions,
    offer,
    callTool: tally.callTool(createToolCaller({ registry: own, guard, runtime })),
    executor,
    hire: home?.hire,
    taskTimeoutMs,
    runtime,
  });
  const readMandate = createMandates({ identity, keysOf: home?.keysOf, now: runtime.now });
  const run = activity.counting(runTask);
  const work = createWork({
    run,
    readMandate,
    runtime,
    deliver: home?.deliver,
    undelivered: home?.undelivered,
    isWanted: home?.isWanted,
  });

  const everyTool = [
    ...syntheticTools({
      identityFile: identity.file,
      work,
      converse: createConverse({
        memory,
        model: executor.answersWithoutTools === true ? executor : undefined,
        runtime,
      }),
      memory,
      definitions: () => registry.definitions,
      credentials: home?.credentials,
      listing: options.listing,
    }),
    ...tools,
  ];
  const faults = collisionsOf(everyTool);
  if (faults.length > 0) return { ok: false, faults };
  const registry = createRegistry(everyTool);
  const resources = agentResources({
    identityFile: identity.file,
    agentId: identity.agentId,
    activity,
    memory,
    gradient: () => home?.gradient?.() ?? null,
    startedAt: runtime.now(),
    now: runtime.now,
  });
  const { name, description } = options;
  const prompts = agentPrompts({ name, description, memory });
  const readings = createRegistry([...resources, ...prompts]);
  for (const tool of unknownNames(policy, [...registry.definitions, ...readings.definitions])) {
    runtime.log("warn", "policy.unknown_tool", { tool });
  }
  const { newServer, answerCall } = createMcpServers({
    name: options.name,
    version: options.version,
    description: options.description,
    tag: identityTag(identity),
    definitions: () => registry.definitions,
    callTool: createToolCaller({ registry, guard, runtime }),
    resources: resources.map((resource) => resource.definition),
    prompts: prompts.map((prompt) => prompt.definition),
    callReading: createToolCaller({ registry: readings, guard, runtime }),
    taskTimeoutMs,
    runtime,
  });

  function counts(): OwnCounts {
    const { completed, failed } = activity.counts();
    const { toolsUsed, ...counted } = tally.counts();
    return {
      ...counted,
      tasks: { made: completed + failed, good: completed },
      tools: { offered: own.definitions.length, used: toolsUsed },
      memories: memory.count(),
    };
  }

  return { ok: true, agent: { identity, work, counts, approvals, newServer, answerCall } };
}

function offerOf({ offer, listing, tools }: AgentOptions, executor: Executor): OfferResult {
  if (offer !== undefined) return { ok: true, offer };
  const { answersWithoutTools } = executor;
  return decideOffer({ setting: undefined, listing, tools, answersWithoutTools });
}
