#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { checkNodeVersion, formatUsageRefusal, watchOutput } from "@agent/command-line";
import { askOwner } from "./ask-owner.ts";
import { checkConfig } from "./config/check-config.ts";
import { parseFlags, type Flags, type PairingOrder } from "./config/parse-flags.ts";
import { confirmTools } from "./config/confirm-tools.ts";
import type { Config } from "./config/config.ts";
import { listSecrets } from "./config/list-secrets.ts";
import { findCommandUsage } from "./config/usage/command-usage.ts";
import { formatHelp } from "./config/usage/format-help.ts";
import { loadSetup, type LaunchContext, type Setup } from "./config/load-setup.ts";
import { createReloadingKnownAgents } from "./http/authentication/known-agents.ts";
import { keyFilePath, loadIdentity } from "./identity/identity.ts";
import { writeStarterFiles } from "./init/write-starter-files.ts";
import { lockFolder, type FolderLock } from "./files/lock-folder.ts";
import { createJsonLog } from "./log.ts";
import type { ContestOrder } from "./relay/contest-rejection.ts";
import { reportEmptyAccount } from "./relay/delegator/report-empty-account.ts";
import type { JoinResult } from "./relay/membership/join-relay.ts";
import { rotateKey } from "./relay/membership/rotate-key.ts";
import { planSelfTest, selfTest } from "./relay/membership/self-test.ts";
import { runPairing } from "./relay/pairing/run-pairing.ts";
import { runContest } from "./relay/run-contest.ts";
import { createSystemRuntime, type Runtime } from "./runtime.ts";
import { startAgent, type RunningAgent } from "./start-agent.ts";

const ignoreLostOutput = watchOutput(process, (message) => process.exit(fail([message])));

const launch: LaunchContext = {
  env: process.env,
  workingDirectory: process.cwd(),
  printNote: (line) => printToLog(`${line}\n`),
};

/**
 * Returns the exit code, or undefined while the agent runs. 1 is a fault of the configuration or
 * the start, and 2 a wrong call.
 */
async function main(): Promise<number | undefined> {
  const args = process.argv.slice(2);
  const { flags, faults } = parseFlags(args);
  if (flags.help) return print(formatHelp());
  if (flags.version) return print(`${readVersion()}\n`);

  const versionFault = checkNodeVersion(process.versions.node);
  if (versionFault !== undefined) return fail([versionFault]);

  // After a typing error, configuration errors would hide the one that matters.
  const [fault] = faults;
  if (fault !== undefined) return failUsage(fault, args);
  if (flags.init !== undefined) return runInit(flags.init, flags);

  const setup = await loadSetup(flags, launch);
  if (!setup.ok) return fail(setup.faults);
  if (flags.confirmTools) return runConfirmTools(setup);
  if (flags.contest !== undefined) return runContestCommand(setup, flags.contest);
  if (flags.rotateKey !== undefined) return runRotateKey(setup, flags.rotateKey);
  if (flags.pairing !== undefined) return runPairingCommand(setup, flags.pairing);
  return flags.checkConfig ? runCheckConfig(setup) : runAgent(setup);
}

/** Asks on a terminal only; a script confirms by calling the command. */
async function runConfirmTools({ config }: Setup): Promise<number> {
  const confirm = process.stdin.isTTY ? ask : async () => true;
  const printLine = (line: string) => void print(`${line}\n`);
  const confirmed = await confirmTools(config, {
    ...createProcessContext(config),
    printLine,
    ask: confirm,
  });
  return confirmed.ok ? 0 : fail(confirmed.faults);
}

async function runContestCommand({ config }: Setup, order: ContestOrder): Promise<number> {
  const report = (line: string) => void print(`${line}\n`);
  const { runtime } = createProcessContext(config);
  const faults = await runContest(config, order, { runtime, report });
  return faults.length === 0 ? 0 : fail(faults);
}

async function runRotateKey(
  { config }: Setup,
  { reason }: NonNullable<Flags["rotateKey"]>,
): Promise<number> {
  const { runtime } = createProcessContext(config);
  const locked = await lockDataFolder(config, runtime);
  if (!locked.ok) return fail([`${locked.fault}; stop it first`]);
  const report = (line: string) => void print(`${line}\n`);
  const faults = await rotateKey(config, reason, { runtime, report });
  return faults.length === 0 ? 0 : fail(faults);
}

async function runPairingCommand({ config }: Setup, order: PairingOrder): Promise<number> {
  const report = (line: string) => void print(`${line}\n`);
  const { runtime } = createProcessContext(config);
  const terminal = { report, ask, isScreen: process.stdout.isTTY };
  const faults = await runPairing(config, order, { runtime, terminal });
  return faults.length === 0 ? 0 : fail(faults);
}

const ask = (question: string) =>
  askOwner(question, { input: process.stdin, output: process.stdout });

async function runInit(folder: string, flags: Flags): Promise<number> {
  const written = await writeStarterFiles(folder);
  if (!written.ok) return fail(written.faults);
  const { config, tools } = written;
  const setup = await loadSetup({ ...flags, config }, launch);
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
  const secrets = listSecrets(config, process.env);
  const log = createJsonLog({ threshold, now: Date.now, write, secrets });
  const runtime = createSystemRuntime(log);
  return { version: readVersion(), runtime };
}

async function runAgent({ config, tools, knownAgents }: Setup): Promise<number | undefined> {
  const { runtime } = createProcessContext(config);
  const locked = await lockDataFolder(config, runtime);
  if (!locked.ok) return fail([locked.fault]);
  const { name, agentType } = config;
  const loaded = await loadIdentity({ ...config.identity, name, agentType }, runtime);
  if (!loaded.ok) return fail([loaded.fault]);
  const { identity, isNewlySealed } = loaded;
  if (isNewlySealed) {
    // From now on no start works without this passphrase.
    const file = keyFilePath(config.identity.dataDir);
    runtime.log("warn", "identity.sealed", { file, by: "AGENT_PASSPHRASE" });
  }

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
    return await lockFolder(dataDir, { pid: process.pid, isAlive });
  } catch (cause) {
    if (privateKeyHex === undefined) {
      return { ok: false, fault: `${dataDir}: cannot be used: ${String(cause)}` };
    }
    log("warn", "data.not_locked", { cause: String(cause) });
    return { ok: true, release: () => {} };
  }
}

/** A process of another user is alive too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}

async function runSelfTest(
  { agent, stop }: RunningAgent,
  joined: JoinResult,
  runtime: Runtime,
  config: Config,
): Promise<number> {
  const { identity, work } = agent;
  const report = (line: string) => void print(`${line}\n`);
  const order = planSelfTest(config);
  const code = await selfTest({ ...order, identity, work, joined, runtime, report });
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
  ignoreLostOutput();
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

function failUsage(message: string, args: readonly string[]): 2 {
  const usage = findCommandUsage(args);
  const { err } = formatUsageRefusal({ program: "agent-server", message, usage, isJson: false });
  process.stderr.write(err);
  return 2;
}

function fail(faults: readonly string[]): 1 {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  return 1;
}

const exitCode = await main().catch((cause: unknown) => fail([inspect(cause)]));
// An idle connection or a tool's own timer must not keep the process alive.
if (exitCode !== undefined) {
  // The exit must not precede the output, or the report that it cannot be written.
  await new Promise<void>((written) => process.stdout.write("", () => written()));
  process.exit(exitCode);
}
