import type { ListingBody } from "@agent/wire";
import type { BaseContext, Server } from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import { createTaskCounter, type TaskCounter } from "./execution/task-counter.ts";
import { createQueryAnswerer } from "./execution/executors/query-answerer.ts";
import { directExecutor } from "./execution/executors/direct.ts";
import type { Executor } from "./execution/executor.ts";
import { createTaskRunner, type RunTask } from "./execution/run-task.ts";
import { createDelegationCheck } from "./execution/delegation/delegation-scope.ts";
import { createWork, type Work } from "./execution/work.ts";
import { delegationToolNames } from "./tools/delegation/names.ts";
import type { LocalCounts } from "./gradient/counts.ts";
import { createUsageCounter } from "./gradient/usage-counter.ts";
import { formatIdentityTag } from "./identity/identity-tag.ts";
import type { Identity } from "./identity/identity.ts";
import { hashedNgramEmbedder } from "./memory/hashed-ngram-embedder.ts";
import type { Memory } from "./memory/memory.ts";
import { openMemory, type OpenMemoryResult } from "./memory/open-memory.ts";
import { decideOffer, isOffered, type Offer, type OfferResult } from "./offer/offer.ts";
import { createApprovals, type Approvals, type Approver } from "./policy/approvals.ts";
import type { ApprovalsFile } from "./policy/approvals-file.ts";
import { createPersistentApprovals } from "./policy/persistent-approvals.ts";
import { createLoggerAudit, type AuditLog } from "./policy/audit-log.ts";
import {
  createPolicyCheck,
  defaultPolicy,
  findUnknownTools,
  type Policy,
} from "./policy/policy-check.ts";
import { createGuard, type Guard } from "./policy/guard.ts";
import type { FindKnownLevel } from "./policy/place-holder.ts";
import { agentPrompts } from "./prompts/index.ts";
import { agentResources } from "./resources/index.ts";
import type { RelayFeatures } from "./relay/relay-features.ts";
import type { Runtime } from "./runtime.ts";
import { createMcpServers, type AnswerCall } from "./mcp-servers.ts";
import { createToolCaller, type CallTool } from "./tools/calling/call-tool.ts";
import { createSyntheticTools } from "./tools/index.ts";
import {
  findNameCollisions,
  createRegistry,
  type RegisteredTool,
  type ToolRegistry,
} from "./tools/registry.ts";

export interface AgentOptions {
  readonly identity: Identity;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly tools: readonly RegisteredTool[];
  /** The prices of the agent's capabilities, if it has any. */
  readonly listing?: ListingBody | undefined;
  /**
   * The tools that other callers may use; absent: those of the listing, or the agent's own without
   * one.
   */
  readonly offer?: Offer | undefined;
  readonly policy?: Policy;
  /** The file that stores the owner's approvals; absent: they end with the process. */
  readonly approvalsFile?: ApprovalsFile;
  /** Absent: audit records go to the ordinary log. */
  readonly audit?: AuditLog;
  /** Absent: an in-memory database. */
  readonly memory?: Memory;
  readonly executor?: Executor;
  readonly taskTimeoutMs?: number;
  /** Whether the agent signs a ledger of each relay task; absent: it does not. */
  readonly signsLedgers?: boolean;
  readonly relay?: RelayFeatures;
  /** The levels of the owner's file of agents; absent: the owner knows none. */
  readonly findKnownLevel?: FindKnownLevel;
  readonly runtime: Runtime;
}

export interface Agent {
  readonly identity: Identity;
  readonly work: Work;
  readonly counts: () => LocalCounts;
  /** The calls that wait for the owner's decision. */
  readonly approvals: Approvals;
  /** Creates an MCP server object; `callerOf` returns the caller of each of its requests. */
  readonly newServer: (callerOf: (context: BaseContext) => Caller) => Server;
  /** Answers one tool call without a server object. */
  readonly answerCall: AnswerCall;
}

export type CreateAgentResult =
  | { readonly ok: true; readonly agent: Agent }
  | { readonly ok: false; readonly faults: readonly string[] };

const TASK_TIMEOUT_MS = 300_000;

/** Builds an agent from its parts; it does not listen for requests yet. */
export function createAgent(options: AgentOptions): CreateAgentResult {
  const { identity, name, description, version, relay, runtime, tools } = options;
  const executor = options.executor ?? directExecutor;
  const resolvedOffer = resolveOffer(options, executor);
  if (!resolvedOffer.ok) return resolvedOffer;
  const { offer } = resolvedOffer;
  // Executors see the owner's tools only: a task that could start tasks might never end.
  const ownTools = createRegistry(tools);

  const { approvalsFile } = options;
  const approvals =
    approvalsFile === undefined
      ? createApprovals(runtime)
      : createPersistentApprovals(approvalsFile, runtime);
  const policy = options.policy ?? defaultPolicy;
  const approver = relay?.approver ?? approvals;
  const guard = createAgentGuard(options, { policy, offer, own: ownTools, approver });
  const opened = openAgentMemory(options);
  if (!opened.ok) return { ok: false, faults: [opened.fault] };
  const usageCounter = createUsageCounter();
  const memory = usageCounter.countRecalls(opened.memory);
  const taskCounter = createTaskCounter();
  const callOwnTool = usageCounter.countToolCalls(
    createToolCaller({ registry: ownTools, guard, runtime }),
  );
  const runCountedTask = createAgentRunner(options, {
    executor,
    offer,
    own: ownTools,
    callTool: callOwnTool,
  });
  const work = createAgentWork(options, taskCounter.countRuns(runCountedTask));

  const allTools = [
    ...createSyntheticTools({
      identityFile: identity.file,
      work,
      answerQuery: createQueryAnswerer({
        memory,
        model: executor.answersWithoutTools === true ? executor : undefined,
        runtime,
      }),
      memory,
      definitions: () => registry.definitions,
      credentials: relay?.credentials,
      listing: options.listing,
      delegator: relay?.delegator,
      contester: relay?.contester,
    }),
    ...tools,
  ];
  const faults = findNameCollisions(allTools);
  if (faults.length > 0) return { ok: false, faults };
  const registry = createRegistry(allTools);
  const { resources, prompts, readableRegistry } = createReadables(options, {
    activity: taskCounter,
    memory,
  });
  for (const tool of findUnknownTools(policy, [
    ...registry.definitions,
    ...readableRegistry.definitions,
  ])) {
    runtime.log("warn", "policy.unknown_tool", { tool });
  }
  const { newServer, answerCall } = createMcpServers({
    name,
    version,
    description,
    identityTag: formatIdentityTag(identity),
    definitions: () => registry.definitions,
    callTool: createToolCaller({ registry, guard, runtime }),
    resources: resources.map((resource) => resource.definition),
    prompts: prompts.map((prompt) => prompt.definition),
    callReadable: createToolCaller({ registry: readableRegistry, guard, runtime }),
    taskTimeoutMs: options.taskTimeoutMs ?? TASK_TIMEOUT_MS,
    runtime,
  });

  function counts(): LocalCounts {
    const { completed, failed } = taskCounter.counts();
    const { toolsUsed, ...usage } = usageCounter.counts();
    return {
      ...usage,
      tasks: { total: completed + failed, succeeded: completed },
      tools: { offered: ownTools.definitions.length, used: toolsUsed },
      memories: memory.count(),
    };
  }

  return { ok: true, agent: { identity, work, counts, approvals, newServer, answerCall } };
}

function resolveOffer({ offer, listing, tools }: AgentOptions, executor: Executor): OfferResult {
  if (offer !== undefined) return { ok: true, offer };
  const { answersWithoutTools } = executor;
  return decideOffer({ setting: undefined, listing, tools, answersWithoutTools });
}

/**
 * Creates the guard that restricts other callers to the offered tools, under the owner's policy.
 */
function createAgentGuard(
  { audit, relay, findKnownLevel, runtime }: AgentOptions,
  by: { policy: Policy; offer: Offer; own: ToolRegistry; approver: Approver },
): Guard {
  const { policy, offer, own, approver } = by;
  return createGuard({
    // Tools that every agent has (identity, memory, prompts, ...) are not part of the offer.
    checkPolicy: createPolicyCheck(policy, {
      listed: offer.listed,
      priced: offer.priced,
      ownerOnly: new Set([
        "agent_contest",
        ...(relay?.delegator === undefined ? [] : delegationToolNames),
      ]),
      isOffered: ({ tool, caller, task }) =>
        own.get(tool.name) === undefined ||
        isOffered(offer, tool.name, {
          caller,
          requiredCapabilities: task?.requiredCapabilities ?? [],
        }),
    }),
    approver,
    audit: audit ?? createLoggerAudit(runtime),
    findKnownLevel,
    runtime,
  });
}

function openAgentMemory({ memory, runtime }: AgentOptions): OpenMemoryResult {
  if (memory !== undefined) return { ok: true, memory };
  return openMemory({ path: ":memory:", embedder: hashedNgramEmbedder, runtime });
}

function createAgentRunner(
  {
    identity,
    relay,
    signsLedgers,
    taskTimeoutMs = TASK_TIMEOUT_MS,
    findKnownLevel,
    runtime,
  }: AgentOptions,
  by: { executor: Executor; offer: Offer; own: ToolRegistry; callTool: CallTool },
): RunTask {
  const { executor, offer, own, callTool } = by;
  return createTaskRunner({
    identity,
    deviceId: () => relay?.deviceId() ?? identity.agentId,
    tools: () => own.definitions,
    offer,
    callTool,
    executor,
    delegateTask: relay?.delegateTask,
    recordSigned: relay?.recordSigned,
    signsLedgers,
    taskTimeoutMs,
    findKnownLevel,
    runtime,
  });
}

function createAgentWork({ identity, relay, runtime }: AgentOptions, run: RunTask): Work {
  return createWork({
    run,
    checkDelegation: createDelegationCheck({
      identity,
      findKey: relay?.findIssuerKey,
      now: runtime.now,
    }),
    runtime,
    deliver: relay?.deliverWork,
    attempts: relay?.attempts,
    undelivered: relay?.findUndelivered,
    isWanted: relay?.isWanted,
    release: relay?.releaseClaim,
  });
}

/** Creates the agent's resources and prompts, and one registry of both to call them by. */
function createReadables(
  { identity, name, description, relay, runtime }: AgentOptions,
  of: { activity: TaskCounter; memory: Memory },
) {
  const { activity, memory } = of;
  const resources = agentResources({
    identityFile: identity.file,
    agentId: identity.agentId,
    taskCounter: activity,
    memory,
    gradient: () => relay?.gradient?.() ?? null,
    startedAt: runtime.now(),
    now: runtime.now,
  });
  const prompts = agentPrompts({ name, description, memory });
  return { resources, prompts, readableRegistry: createRegistry([...resources, ...prompts]) };
}
