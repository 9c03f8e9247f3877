#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { inspect } from "node:util";
import { checkConfig } from "./check-config.ts";
import { readFlags, type Flags } from "./command-line.ts";
import { confirmTools } from "./confirm-tools.ts";
import { readConfig, type Config, type ConfigInput } from "./config.ts";
import { secretsOf } from "./config-secrets.ts";
import { helpText } from "./help-text.ts";
import { followKnownAgents, readKnownAgents, type KnownAgents } from "./http/known-agents.ts";
import { loadIdentity } from "./identity.ts";
import { writeStarter } from "./init/write-starter.ts";
import { lockFolder, type FolderLock } from "./lock-folder.ts";
import { jsonLog } from "./log.ts";
import { nodeFault } from "./node-version.ts";
import type { JoinResult } from "./relay/join.ts";
import { selfTest } from "./relay/self-test.ts";
import { systemRuntime, type Runtime } from "./runtime.ts";
import { startAgent, type RunningAgent } from "./start-agent.ts";
import { syntheticNames } from "./tools/index.ts";
import { loadToolsModule } from "./tools/load-module.ts";
import { collisionsOf, type RegisteredTool } from "./tools/registry.ts";

/** The exit code, or undefined while the agent runs. 1 is a fault of the configuration or the start. */
async function main(): Promise<number | undefined> {
  const { flags, faults } = readFlags(process.argv.slice(2));
  if (flags.help) return print(helpText());
  if (flags.version) return print(`${version()}\n`);

  const tooOld = nodeFault(process.versions.node);
  if (tooOld !== undefined) return fail([tooOld]);

  if (flags.init !== undefined) return faults.length > 0 ? fail(faults) : init(flags.init, flags);

  const setup = await readSetup(flags);
  if (!setup.ok) return fail([...faults, ...setup.faults]);
  if (faults.length > 0) return fail(faults);
  if (flags.confirmTools) return confirm(setup);
  return flags.checkConfig ? check(setup) : run(setup);
}

/** Asks where somebody can answer; a script has said yes by calling the command. */
async function confirm({ config }: Setup): Promise<number> {
  const ask = process.stdin.isTTY ? askOnTerminal : async () => true;
  const say = (line: string) => void print(`${line}\n`);
  const confirmed = await confirmTools(config, { ...edgeOf(config), say, ask });
  return confirmed.ok ? 0 : fail(confirmed.faults);
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function init(folder: string, flags: Flags): Promise<number> {
  const written = await writeStarter(folder);
  if (!written.ok) return fail(written.faults);
  const { config, tools } = written;
  const setup = await readSetup({ ...flags, config });
  const checked = setup.ok ? await checkConfig(setup, edgeOf(setup.config)) : setup;
  return print(`wrote ${config}
wrote ${tools}
${checked.ok ? checked.table : ""}start: agent-server --config ${config}
`);
}

async function check(setup: Setup): Promise<number> {
  const checked = await checkConfig(setup, edgeOf(setup.config));
  return checked.ok ? print(`${checked.table}configuration ok\n`) : fail(checked.faults);
}

/** What only a process has: its version, its clock and the stream of its log. */
function edgeOf(config: Config): { readonly version: string; readonly runtime: Runtime } {
  // Standard output belongs to the protocol on stdio, so the log never goes there.
  const write = (line: string) => void process.stderr.write(line);
  const { logLevel: threshold } = config;
  const log = jsonLog({ threshold, now: Date.now, write, secrets: secretsOf(config) });
  const runtime = systemRuntime(log);
  return { version: version(), runtime };
}

/** The configuration and the files that it names. */
interface Setup {
  readonly config: Config;
  readonly tools: readonly RegisteredTool[];
  readonly knownAgents: KnownAgents;
}

type Faults = { readonly ok: false; readonly faults: readonly string[] };

async function readSetup(flags: Flags): Promise<({ readonly ok: true } & Setup) | Faults> {
  const input = readInput(flags);
  if (!input.ok) return input;
  const read = readConfig(input.input);
  if (!read.ok) return read;
  const modules = await Promise.all(read.config.tools.map(loadToolsModule));
  const known = loadKnownAgents(read.config.knownAgents);
  const faults = [...modules, known].flatMap((file) => (file.ok ? [] : file.faults));
  if (faults.length > 0) return { ok: false, faults };
  const tools = modules.flatMap((module) => (module.ok ? module.tools : []));
  const leftOut = modules.flatMap((module) => (module.ok ? module.leftOut : []));
  for (const line of leftOut) process.stderr.write(`${line}\n`);
  const { relay, listing } = read.config;
  const names = syntheticNames({
    hasRelay: relay !== undefined,
    hasListing: listing !== undefined,
  });
  const synthetic = names.map((name) => ({ definition: { name } }));
  const collisions = collisionsOf([...synthetic, ...tools]);
  if (collisions.length > 0) return { ok: false, faults: collisions };
  return {
    ok: true,
    config: read.config,
    tools,
    knownAgents: known.ok ? known.agents : new Map(),
  };
}

function loadKnownAgents(path: string | undefined): ReturnType<typeof readKnownAgents> {
  if (path === undefined) return { ok: true, agents: new Map() };
  try {
    return readKnownAgents(readFileSync(path, "utf8"), path);
  } catch {
    return { ok: false, faults: [`${path}: cannot be read`] };
  }
}

function readInput(flags: Flags): { readonly ok: true; readonly input: ConfigInput } | Faults {
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

async function run({ config, tools, knownAgents }: Setup): Promise<number | undefined> {
  const { runtime } = edgeOf(config);
  const locked = await lockData(config, runtime);
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
        : followKnownAgents(config.knownAgents, knownAgents, runtime),
    version: version(),
    runtime,
    streams: { input: process.stdin, output: process.stdout },
  });
  if (!started.ok) return fail(started.faults);
  const { running } = started;
  liveOn(runtime);
  stopOnSignals(running);
  const { url, joined } = running;
  if (url !== undefined) print(`${name} ${identity.agentId} listening on ${url}\n`);
  if (joined === undefined) return undefined;
  if (config.selfTest) return testItself(running, await joined, runtime, config);
  if (url !== undefined && (await joined).ok) print(`registered at ${config.relay?.url}\n`);
  return undefined;
}

/** An agent whose key comes from the environment may have no disk, and then nothing to be locked. */
async function lockData({ identity }: Config, { log }: Runtime): Promise<FolderLock> {
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

async function testItself(
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

/** A tool may fail when it has answered long ago: that is no reason to leave the work of others. */
function liveOn({ log }: Runtime): void {
  process.on("uncaughtException", (cause) => {
    log("error", "process.uncaught", { cause: inspect(cause) });
  });
  process.on("unhandledRejection", (cause) => {
    log("error", "process.unhandled", { cause: inspect(cause) });
  });
  // Who read the log may go away; to log that would only fail again, without end.
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
  // On stdio the client ends the agent by closing its end.
  if (running.url === undefined) process.stdin.once("end", stop);
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version: number } = JSON.parse(text) as { version: string };
  return number;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function fail(faults: readonly string[]): 1 {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  return 1;
}

const code = await main().catch((cause: unknown) => fail([inspect(cause)]));
// What has ended is not kept alive by an idle connection or a tool's own timer.
if (code !== undefined) process.exit(code);
