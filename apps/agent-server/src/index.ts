export { createAgent } from "./agent.ts";
export type { Agent, AgentOptions, CreateAgentResult } from "./agent.ts";
export type { RelayFeatures } from "./relay/relay-features.ts";
export type { Caller } from "./caller.ts";
export { parseFlags } from "./config/parse-flags.ts";
export { readConfig } from "./config/config.ts";
export type { Config, ConfigInput, ConfigResult } from "./config/config.ts";
export { chooseExecutor } from "./execution/executors/choose-executor.ts";
export type {
  Delegate,
  DelegateAnswer,
  DelegateRequest,
} from "./execution/delegation/delegation.ts";
export { directExecutor } from "./execution/executors/direct.ts";
export type { Executor, Outcome, Toolbox } from "./execution/executor.ts";
export type { WorkTask } from "./execution/task.ts";
export { parseIdentityFile } from "./identity/identity-file.ts";
export type { IdentityFile } from "./identity/identity-file.ts";
export { formatIdentityTag } from "./identity/identity-tag.ts";
export { loadIdentity } from "./identity/identity.ts";
export type { Identity, IdentityOptions } from "./identity/identity.ts";
export { createJsonLog, silentLog } from "./log.ts";
export type { Log, LogLevel } from "./log.ts";
export { chooseEmbedder } from "./memory/choose-embedder.ts";
export type { EmbedAnswer, Embedder } from "./memory/embedder.ts";
export type { Memory, MemoryRefusal, NewMemory, Recalled, RecallItem } from "./memory/memory.ts";
export { openMemory } from "./memory/open-memory.ts";
export type { OpenMemoryResult } from "./memory/open-memory.ts";
export type { ModelEndpoint } from "./model/model-caller.ts";
export type { Approval, Approvals } from "./policy/approvals.ts";
export type { AuditLog, DecisionRecord, CompletionRecord } from "./policy/audit-log.ts";
export type { Policy } from "./policy/policy-check.ts";
export { createSystemRuntime } from "./runtime.ts";
export type { Runtime } from "./runtime.ts";
export { startAgent } from "./start-agent.ts";
export type { RunningAgent, StartOptions, StartResult } from "./start-agent.ts";
export type { CredentialSource } from "./tools/built-in/agent-credentials.ts";
export { compileTool } from "./tools/calling/compile-tool.ts";
export type {
  JsonObject,
  Risk,
  Tool,
  ToolAnswer,
  ToolContext,
  ToolDefinition,
} from "./tools/definition.ts";
export { loadToolsModule, parseTools } from "./tools/load-module.ts";
export type { RegisteredTool } from "./tools/registry.ts";
