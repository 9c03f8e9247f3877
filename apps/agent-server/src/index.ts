export { createAgent } from "./agent.ts";
export type { Agent, AgentOptions, CreateAgentResult, RelayFeatures } from "./agent.ts";
export type { Caller } from "./caller.ts";
export { parseFlags } from "./command-line.ts";
export { readConfig } from "./config.ts";
export type { Config, ConfigInput, ConfigResult } from "./config.ts";
export { chooseExecutor } from "./execution/choose-executor.ts";
export type { Delegate, DelegateAnswer, DelegateRequest } from "./execution/delegation.ts";
export { directExecutor } from "./execution/direct.ts";
export type { Executor, Outcome, Toolbox } from "./execution/executor.ts";
export type { WorkTask } from "./execution/task.ts";
export { parseIdentityFile } from "./identity-file.ts";
export type { IdentityFile } from "./identity-file.ts";
export { formatIdentityTag } from "./identity-tag.ts";
export { loadIdentity } from "./identity.ts";
export type { Identity, IdentityOptions } from "./identity.ts";
export { createJsonLog, silentLog } from "./log.ts";
export type { Log, LogLevel } from "./log.ts";
export { chooseEmbedder } from "./memory/choose-embedder.ts";
export type { EmbedAnswer, Embedder } from "./memory/embedder.ts";
export type { Memory, MemoryRefusal, NewMemory, Recalled, RecallItem } from "./memory/memory.ts";
export { openMemory } from "./memory/open-memory.ts";
export type { OpenMemoryResult } from "./memory/open-memory.ts";
export type { ModelEndpoint } from "./model/exchange.ts";
export type { Approval, Approvals } from "./policy/approvals.ts";
export type { AuditLog, DecisionRecord, CompletionRecord } from "./policy/audit.ts";
export type { Policy } from "./policy/gate.ts";
export { createSystemRuntime } from "./runtime.ts";
export type { Runtime } from "./runtime.ts";
export { startAgent } from "./start-agent.ts";
export type { RunningAgent, StartOptions, StartResult } from "./start-agent.ts";
export type { CredentialSource } from "./tools/agent-credentials.ts";
export { compileTool } from "./tools/compile-tool.ts";
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
