import type { ExecutionReceipt } from "@agent/receipts";
import type { ListingBody } from "@agent/wire";
import type { BaseContext, Server } from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import { createTaskCounter, type TaskCounter } from "./execution/task-counter.ts";
import { createQueryAnswerer } from "./execution/executors/query-answerer.ts";
import type { DelegateTask } from "./execution/delegation/delegation.ts";
import { directExecutor } from "./execution/executors/direct.ts";
import type { Executor } from "./execution/executor.ts";
import { createTaskRunner, type RunTask } from "./execution/run-task.ts";
import {
  createDelegationCheck,
  type GetIssuerKeys,
} from "./execution/delegation/delegation-scope.ts";
import { createWork, type DeliverReceipt, type Work } from "./execution/work.ts";
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
import { agentPrompts } from "./prompts/index.ts";
import { agentResources } from "./resources/index.ts";
import type { Runtime } from "./runtime.ts";
import { createMcpServers, type AnswerCall } from "./mcp-servers.ts";
import type { CredentialSource } from "./tools/built-in/agent-credentials.ts";
import { createToolCaller, type CallTool } from "./tools/calling/call-tool.ts";
import { createSyntheticTools } from "./tools/index.ts";
import {
  findNameCollisions,
  createRegistry,
  type RegisteredTool,
  type ToolRegistry,
} from "./tools/registry.ts";

/** What the relay adds to an agent; absent when it works without one. */
export interface RelayFeatures {
  /** The device id that the relay gave to the agent's key, once it is known there. */
  deviceId(): string | undefined;
  readonly delegateTask: DelegateTask;
  /** Of the issuers of delegation tokens. */
  readonly getIssuerKeys: GetIssuerKeys;
  readonly deliverReceipt: DeliverReceipt;
  /** The receipt of a relay task that was done, in this run or the last, and is still on its way. */
  readonly findUndelivered: (relayTaskId: string) => ExecutionReceipt | undefined;
  /** Whether the relay still waits for a task whose call was closed; absent: it does not. */
  readonly isWanted?: (relayTaskId: string) => Promise<boolean>;
  /** Tells the relay that work on a task of one of its calls was stopped for a cancel. */
  readonly releaseClaim?: (relayTaskId: string) => Promise<void>;
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
  readonly audit?: AuditLog;
  /** Absent: a memory of this process only. */
  readonly memory?: Memory;
  readonly executor?: Executor;
  readonly taskTimeoutMs?: number;
  readonly relay?: RelayFeatures;
  readonly runtime: Runtime;
}

export interface Agent {
  readonly identity: Identity;
  readonly work: Work;
  readonly counts: () => LocalCounts;
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

const TASK_TIMEOUT_MS = 300_000;

/** Puts an agent together from its parts; it listens to nobody yet. */
export function createAgent(options: AgentOptions): CreateAgentResult {
  const { identity, name, description, version, relay, runtime, tools } = options;
  const executor = options.executor ?? directExecutor;
  const resolvedOffer = resolveOffer(options, executor);
  if (!resolvedOffer.ok) return resolvedOffer;
  const { offer } = resolvedOffer;
  // Executors see the owner's tools only: a task that starts tasks would have no end.
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
    }),
    ...tools,
  ];
  const faults = findNameCollisions(allTools);
  if (faults.length > 0) return { ok: false, faults };
  const registry = createRegistry(allTools);
  const {
    resources,
    prompts,
    readings: readableRegistry,
  } = createReadings(options, { activity: taskCounter, memory });
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

/** Lets others call what the agent offers, under the owner's policy. */
function createAgentGuard(
  { audit, runtime }: AgentOptions,
  by: { policy: Policy; offer: Offer; own: ToolRegistry; approver: Approver },
): Guard {
  const { policy, offer, own, approver } = by;
  return createGuard({
    // What every agent has (identity, memory, prompts, ...) is not the owner's to offer.
    gate: createPolicyCheck(policy, {
      listed: offer.listed,
      isOffered: ({ tool, caller, task }) =>
        own.get(tool.name) === undefined ||
        isOffered(offer, tool.name, {
          caller,
          requiredCapabilities: task?.requiredCapabilities ?? [],
        }),
    }),
    approver,
    audit: audit ?? createLoggerAudit(runtime),
    runtime,
  });
}

function openAgentMemory({ memory, runtime }: AgentOptions): OpenMemoryResult {
  if (memory !== undefined) return { ok: true, memory };
  return openMemory({ path: ":memory:", embedder: hashedNgramEmbedder, runtime });
}

function createAgentRunner(
  { identity, relay: home, taskTimeoutMs = TASK_TIMEOUT_MS, runtime }: AgentOptions,
  by: { executor: Executor; offer: Offer; own: ToolRegistry; callTool: CallTool },
): RunTask {
  const { executor, offer, own, callTool } = by;
  return createTaskRunner({
    identity,
    deviceId: () => home?.deviceId() ?? identity.agentId,
    tools: () => own.definitions,
    offer,
    callTool,
    executor,
    delegateTask: home?.delegateTask,
    taskTimeoutMs,
    runtime,
  });
}

function createAgentWork({ identity, relay: home, runtime }: AgentOptions, run: RunTask): Work {
  return createWork({
    run,
    checkDelegation: createDelegationCheck({
      identity,
      keysOf: home?.getIssuerKeys,
      now: runtime.now,
    }),
    runtime,
    deliver: home?.deliverReceipt,
    undelivered: home?.findUndelivered,
    isWanted: home?.isWanted,
    release: home?.releaseClaim,
  });
}

/** What can be read about an agent: its resources and prompts, and a registry of both to call them by. */
function createReadings(
  { identity, name, description, relay: home, runtime }: AgentOptions,
  of: { activity: TaskCounter; memory: Memory },
) {
  const { activity, memory } = of;
  const resources = agentResources({
    identityFile: identity.file,
    agentId: identity.agentId,
    taskCounter: activity,
    memory,
    gradient: () => home?.gradient?.() ?? null,
    startedAt: runtime.now(),
    now: runtime.now,
  });
  const prompts = agentPrompts({ name, description, memory });
  return { resources, prompts, readings: createRegistry([...resources, ...prompts]) };
}
