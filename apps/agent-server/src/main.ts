#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { inspect } from "node:util";
import { checkConfig } from "./config/check-config.ts";
import { parseFlags, type Flags } from "./config/parse-flags.ts";
import { confirmTools } from "./config/confirm-tools.ts";
import { readConfig, type Config, type ConfigInput } from "./config/config.ts";
import { listSecrets } from "./config/list-secrets.ts";
import { formatHelp } from "./config/format-help.ts";
import {
  createReloadingKnownAgents,
  parseKnownAgents,
  type KnownAgents,
} from "./http/authentication/known-agents.ts";
import { loadIdentity } from "./identity/identity.ts";
import { writeStarterFiles } from "./init/write-starter-files.ts";
import { lockFolder, type FolderLock } from "./files/lock-folder.ts";
import { createJsonLog } from "./log.ts";
import { checkNodeVersion } from "./check-node-version.ts";
import type { ContestOrder } from "./relay/contest-rejection.ts";
import { reportEmptyAccount } from "./relay/delegator/report-empty-account.ts";
import type { JoinResult } from "./relay/membership/join-relay.ts";
import { selfTest } from "./relay/membership/self-test.ts";
import { runContest } from "./relay/run-contest.ts";
import { createSystemRuntime, type Runtime } from "./runtime.ts";
import { startAgent, type RunningAgent } from "./start-agent.ts";
import { listSyntheticToolNames } from "./tools/index.ts";
import { loadToolsModule } from "./tools/load-module.ts";
import { findNameCollisions, type RegisteredTool } from "./tools/registry.ts";

/**
 * Returns the exit code, or undefined while the agent runs. 1 is a fault of the configuration or
 * the start.
 */
async function main(): Promise<number | undefined> {
  const { flags, faults } = parseFlags(process.argv.slice(2));
  if (flags.help) return print(formatHelp());
  if (flags.version) return print(`${readVersion()}\n`);

  const versionFault = checkNodeVersion(process.versions.node);
  if (versionFault !== undefined) return fail([versionFault]);

  if (flags.init !== undefined)
    return faults.length > 0 ? fail(faults) : runInit(flags.init, flags);

  const setup = await loadSetup(flags);
  if (!setup.ok) return fail([...faults, ...setup.faults]);
  if (faults.length > 0) return fail(faults);
  if (flags.confirmTools) return runConfirmTools(setup);
  if (flags.contest !== undefined) return runContestCommand(setup, flags.contest);
  return flags.checkConfig ? runCheckConfig(setup) : runAgent(setup);
}

/** Asks on a terminal only; a script confirms by calling the command. */
async function runConfirmTools({ config }: Setup): Promise<number> {
  const ask = process.stdin.isTTY ? askOnTerminal : async () => true;
  const printLine = (line: string) => void print(`${line}\n`);
  const confirmed = await confirmTools(config, {
    ...createProcessContext(config),
    printLine,
    ask,
  });
  return confirmed.ok ? 0 : fail(confirmed.faults);
}

async function runContestCommand({ config }: Setup, order: ContestOrder): Promise<number> {
  const report = (line: string) => void print(`${line}\n`);
  const { runtime } = createProcessContext(config);
  const faults = await runContest(config, order, { runtime, report });
  return faults.length === 0 ? 0 : fail(faults);
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function runInit(folder: string, flags: Flags): Promise<number> {
  const written = await writeStarterFiles(folder);
  if (!written.ok) return fail(written.faults);
  const { config, tools } = written;
  const setup = await loadSetup({ ...flags, config });
  const checked = setup.ok ? await checkConfig(setup, createProcessContext(setup.config)) : setup;
  return print(`wrote ${config}
wrote ${tools}
${checked.ok ? checked.table : ""}start: agent-server --config ${config}
`);
}

async function runCheckConfig(setup: Setup): Promise<number> {
  const checked = await checkConfig(setup, createProcessContext(setup.config));
  return checked.ok ? print(`${checked.table}configuration ok\n`) : fail(checked.faults);
}

/** Creates the context of the process: version, clock and the stream of its log. */
function createProcessContext(config: Config): {
  readonly version: string;
  readonly runtime: Runtime;
} {
  // On stdio, standard output carries the protocol, so the log must not use it.
  const write = (line: string) => void process.stderr.write(line);
  const { logLevel: threshold } = config;
  const log = createJsonLog({ threshold, now: Date.now, write, secrets: listSecrets(config) });
  const runtime = createSystemRuntime(log);
  return { version: readVersion(), runtime };
}

/** The configuration and the contents of the files that it names. */
interface Setup {
  readonly config: Config;
  readonly tools: readonly RegisteredTool[];
  readonly knownAgents: KnownAgents;
}

type Faults = { readonly ok: false; readonly faults: readonly string[] };

async function loadSetup(flags: Flags): Promise<({ readonly ok: true } & Setup) | Faults> {
  const input = loadConfigInput(flags);
  if (!input.ok) return input;
  const read = readConfig(input.input);
  if (!read.ok) return read;
  const modules = await Promise.all(read.config.tools.map(loadToolsModule));
  const knownAgents = loadKnownAgents(read.config.knownAgents);
  const faults = [...modules, knownAgents].flatMap((file) => (file.ok ? [] : file.faults));
  if (faults.length > 0) return { ok: false, faults };
  const tools = modules.flatMap((module) => (module.ok ? module.tools : []));
  const skipped = modules.flatMap((module) => (module.ok ? module.skipped : []));
  for (const line of skipped) process.stderr.write(`${line}\n`);
  const { relay, listing, delegation } = read.config;
  const names = listSyntheticToolNames({
    hasRelay: relay !== undefined,
    hasListing: listing !== undefined,
    offersInspection: listing?.acceptance !== undefined,
    delegates: delegation,
  });
  const synthetic = names.map((name) => ({ definition: { name } }));
  const collisions = findNameCollisions([...synthetic, ...tools]);
  if (collisions.length > 0) return { ok: false, faults: collisions };
  return {
    ok: true,
    config: read.config,
    tools,
    knownAgents: knownAgents.ok ? knownAgents.agents : new Map(),
  };
}

function loadKnownAgents(path: string | undefined): ReturnType<typeof parseKnownAgents> {
  if (path === undefined) return { ok: true, agents: new Map() };
  try {
    return parseKnownAgents(readFileSync(path, "utf8"), path);
  } catch {
    return { ok: false, faults: [`${path}: cannot be read`] };
  }
}

function loadConfigInput(
  flags: Flags,
): { readonly ok: true; readonly input: ConfigInput } | Faults {
  const workingDirectory = process.cwd();
  const input = { env: process.env, flags, workingDirectory };
  if (flags.config === undefined) return { ok: true, input };
  const path = resolve(workingDirectory, flags.config);
  try {
    return { ok: true, input: { ...input, file: { path, text: readFileSync(path, "utf8") } } };
  } catch {
    return { ok: false, faults: [`--config: ${path} cannot be read`] };
  }
}

async function runAgent({ config, tools, knownAgents }: Setup): Promise<number | undefined> {
  const { runtime } = createProcessContext(config);
  const locked = await lockDataFolder(config, runtime);
  if (!locked.ok) return fail([locked.fault]);
  const { name, agentType } = config;
  const loaded = await loadIdentity({ ...config.identity, name, agentType }, runtime);
  if (!loaded.ok) return fail([loaded.fault]);
  const { identity } = loaded;

  const started = await startAgent({
    config,
    identity,
    tools,
    knownAgents:
      config.knownAgents === undefined
        ? knownAgents
        : createReloadingKnownAgents(config.knownAgents, knownAgents, runtime),
    version: readVersion(),
    runtime,
    streams: { input: process.stdin, output: process.stdout },
  });
  if (!started.ok) return fail(started.faults);
  const { running } = started;
  logUncaughtErrors(runtime);
  stopOnSignals(running);
  const { url, joined } = running;
  if (url !== undefined) print(`${name} ${identity.agentId} listening on ${url}\n`);
  if (joined === undefined) return undefined;
  void reportEmptyAccount(running, printToLog);
  if (config.selfTest) return runSelfTest(running, await joined, runtime, config);
  if (url !== undefined && (await joined).ok) print(`registered at ${config.relay?.url}\n`);
  return undefined;
}

/**
 * Locks the data folder. An agent whose key comes from the environment may have no disk, and then
 * there is nothing to lock.
 */
async function lockDataFolder({ identity }: Config, { log }: Runtime): Promise<FolderLock> {
  const { dataDir, privateKeyHex } = identity;
  try {
    return await lockFolder(dataDir, process.pid);
  } catch (cause) {
    if (privateKeyHex === undefined) {
      return { ok: false, fault: `${dataDir}: cannot be used: ${String(cause)}` };
    }
    log("warn", "data.not_locked", { cause: String(cause) });
    return { ok: true, release: () => {} };
  }
}

async function runSelfTest(
  { agent, stop }: RunningAgent,
  joined: JoinResult,
  runtime: Runtime,
  { listing, taskTimeoutMs: timeoutMs }: Config,
): Promise<number> {
  const { identity, work } = agent;
  const report = (line: string) => void print(`${line}\n`);
  const code = await selfTest({
    identity,
    work,
    joined,
    // Where prices differ, a prompt without a required capability must name its tool.
    capability: listing?.capabilities[0],
    timeoutMs,
    runtime,
    report,
  });
  await stop();
  return code;
}

/** Logs errors that a tool throws after its answer: they must not stop the tasks of others. */
function logUncaughtErrors({ log }: Runtime): void {
  process.on("uncaughtException", (cause) => {
    log("error", "process.uncaught", { cause: inspect(cause) });
  });
  process.on("unhandledRejection", (cause) => {
    log("error", "process.unhandled", { cause: inspect(cause) });
  });
  // If the reader of the log is gone, logging that error would only fail again, without end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

function stopOnSignals(running: RunningAgent): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void running.stop().finally(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // On stdio the client stops the agent by closing its end of the stream.
  if (running.url === undefined) process.stdin.once("end", stop);
}

function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version: number } = JSON.parse(text) as { version: string };
  return number;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function printToLog(text: string): void {
  process.stderr.write(text);
}

function fail(faults: readonly string[]): 1 {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  return 1;
}

const exitCode = await main().catch((cause: unknown) => fail([inspect(cause)]));
// An idle connection or a tool's own timer must not keep the process alive.
if (exitCode !== undefined) process.exit(exitCode);
