#!/usr/bin/env node
import { collectDefaultMetrics } from "prom-client";
import { createRelayClock } from "./clock/relay-clock.ts";
import { formatBlocks, type Display } from "./command-line/format-blocks.ts";
import type { OperatorOptions } from "./command-line/operator-command.ts";
import { operatorCommands } from "./command-line/operator-commands.ts";
import { EXIT, runOperatorCommand } from "./command-line/run-operator-command.ts";
import { commands } from "./commands.ts";
import { readConfig, listSecrets, type Config } from "./config.ts";
import { createBufferedWriter } from "./http/server/buffered-writer.ts";
import { createLog, type LogLevel, type RootLog } from "./observability/log.ts";
import { openRelay, type OpenRelay } from "./open-relay.ts";
import { createRandomPool } from "./random-pool.ts";
import { readTokenFile } from "./identity/read-token-file.ts";
import type { Runtime } from "./runtime.ts";
import { serve, type RunningServer } from "./serve.ts";
import { checkNodeVersion } from "./start/check-node-version.ts";
import { checkStart } from "./start/check-start.ts";
import { createConsoleCode } from "./start/create-console-code.ts";
import { describeStart, formatLogLine, getLocalAddress } from "./start/describe-start.ts";
import { createDevEnvironment } from "./start/dev-environment.ts";
import { parseCommandLine, type ProcessFlags } from "./start/parse-command-line.ts";
import { startSampleAgents, type SampleAgents } from "./start/sample-agents.ts";
import { formatUsage } from "./start/usage.ts";
import { version } from "./version.ts";

const SHUTDOWN_GRACE_MS = 8_000;

const clock = createRelayClock({ wall: Date.now, monotonic: () => performance.now() });

const runtime: Runtime = {
  now: clock.now,
  clock,
  randomBytes: createRandomPool(),
  schedule(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

const isTerminal = process.stdout.isTTY === true;
const display: Display = {
  width: isTerminal ? process.stdout.columns : undefined,
  hasColor: isTerminal && (process.env["NO_COLOR"] ?? "") === "",
};

const stdoutWriter = createBufferedWriter(process.stdout, setImmediate);
const stderrWriter = createBufferedWriter(process.stderr, setImmediate);

// The reader of the log may close the pipe; logging that error would fail again.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

function flush(): void {
  stdoutWriter.flush();
  stderrWriter.flush();
}

/** Writes JSON lines for a collector, and lines for people on a terminal. */
function createProcessLog(level: LogLevel, secrets: readonly string[]) {
  const format = isTerminal ? formatLogLine : (line: string) => line;
  return createLog({
    level,
    write: {
      stdout: (line) => stdoutWriter.write(format(line)),
      stderr: (line) => stderrWriter.write(format(line)),
    },
    now: runtime.now,
    secrets,
  });
}

/** Ends the process after its output was written. */
function exit(code: number): void {
  flush();
  process.exitCode = code;
  setTimeout(() => process.exit(), 100).unref();
}

/** Runs a relay; `announce` tells the person at the terminal, and returns what must be stopped with it. */
async function runRelay(config: Config, announce: Announce): Promise<void> {
  const log = createProcessLog(config.server.logLevel, listSecrets(config));
  process.on("uncaughtException", (error) => {
    log.error("process.uncaught", { error: error.stack ?? error.message });
  });
  process.on("unhandledRejection", (reason) => {
    log.error("process.unhandled", { error: String(reason) });
  });
  try {
    await startRelay(config, log, announce);
  } catch (error) {
    log.error("relay.start_failed", {
      error: error instanceof Error ? error.stack : String(error),
    });
    exit(1);
  }
}

type Announce = (
  config: Config,
  relay: OpenRelay,
  serving: RunningServer,
) => Promise<SampleAgents | undefined>;

async function startRelay(config: Config, log: RootLog, announce: Announce): Promise<void> {
  const relay = await openRelay(config, runtime, log);
  if (!relay.ok) {
    log.error("relay.start_refused", { code: relay.code, detail: relay.detail });
    return exit(1);
  }
  let serving: RunningServer;
  try {
    serving = await serve(relay, runtime, config.server);
  } catch (error) {
    log.error("relay.listen_failed", { error: error instanceof Error ? error.message : "unknown" });
    await relay.close();
    return exit(1);
  }
  // Metrics of the process are added here, because only here one relay runs in it.
  collectDefaultMetrics({ register: relay.metrics });
  const { host, port } = serving;
  const frozen = relay.freezer.frozen();
  if (frozen !== undefined) {
    log.warn("relay.starts_frozen", { reason: frozen.reason, since: frozen.since });
  }
  if (!isTerminal) log.info("relay.listening", { host, port, relay_id: relay.relayId, version });
  const company = await announce(config, relay, serving);

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info("relay.draining", { signal });
    company?.stop();
    try {
      await serving.stop(SHUTDOWN_GRACE_MS);
      log.info("relay.stopped", {});
      exit(0);
    } catch (error) {
      log.error("relay.stop_failed", { error: String(error) });
      exit(1);
    }
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  const { apiTokenFile: file } = config;
  if (file !== undefined) process.on("SIGHUP", () => reloadTokens(file, relay, log));
}

/** Reads the operator's tokens again. An invalid file leaves the current tokens in force. */
function reloadTokens(file: string, { operatorTokens }: OpenRelay, log: RootLog): void {
  const tokens = readTokenFile(file);
  if (tokens === undefined) {
    return log.error("config.reload_refused", { variable: "AGENT_API_TOKEN_FILE" });
  }
  log.addSecrets(tokens);
  operatorTokens.replace(tokens);
  log.info("config.reloaded", { variable: "AGENT_API_TOKEN_FILE", count: tokens.length });
}

/** Shows a person what was started; a collector of logs reads the log alone. */
async function announceRelay(config: Config, relay: OpenRelay, { port }: RunningServer) {
  if (!isTerminal) return undefined;
  const code = await createConsoleCode(config, relay);
  const { relayId, freezer } = relay;
  const blocks = describeStart({ config, relayId, port, frozen: freezer.frozen(), code });
  process.stdout.write(`${formatBlocks(blocks, display)}\n`);
  return undefined;
}

/** Starts sample agents beside a relay in memory, and prints the link of its console. */
async function announceDev(config: Config, relay: OpenRelay, { port }: RunningServer) {
  const baseUrl = getLocalAddress({ config, port });
  const [masterToken = ""] = config.apiTokens;
  const samples = await startSampleAgents({ baseUrl, masterToken, runtime });
  const code = await createConsoleCode(config, relay);
  process.stdout.write(
    `${baseUrl}/console#code=${code ?? ""}\n` +
      `two sample agents work at this relay in memory; Ctrl-C ends it\n` +
      `ask it: AGENT_RELAY_URL=${baseUrl} AGENT_API_TOKEN=${masterToken} agent-relay status\n`,
  );
  return samples;
}

/** Runs a command on the database, which needs only its place and the passphrase. */
async function runDatabaseCommand(
  name: string,
  args: readonly string[],
  { status = false, stolen = false }: ProcessFlags,
  { reason, from, to }: OperatorOptions,
): Promise<void> {
  const passphrase = process.env["AGENT_RELAY_KEY_PASSPHRASE"];
  const path = process.env["AGENT_DB_PATH"]?.trim() ?? "";
  const url = process.env["AGENT_DATABASE_URL"]?.trim() ?? "";
  if (name !== "copy" && (path === "") === (url === "")) {
    return failUsage("AGENT_DB_PATH or AGENT_DATABASE_URL must name the database", EXIT.refused);
  }
  const result = await commands[name]?.run({
    arguments: args,
    status,
    stolen,
    ...(url === "" ? { path } : { url }),
    now: runtime.now(),
    randomBytes: runtime.randomBytes,
    ...(passphrase !== undefined && passphrase.trim() !== "" && { passphrase }),
    ...(reason !== undefined && { reason }),
    ...(name === "copy" && { from: from ?? path, to: to ?? url }),
  });
  const { ok, text } = result ?? { ok: false, text: "" };
  (ok ? process.stdout : process.stderr).write(`${text}\n`);
  return exit(ok ? 0 : 1);
}

/** Runs a command against a running relay. */
async function runCommand(
  name: string,
  args: readonly string[],
  options: OperatorOptions,
): Promise<void> {
  const command = operatorCommands[name];
  if (command === undefined) return failUsage(`there is no command ${JSON.stringify(name)}`);
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  const code = await runOperatorCommand(
    command,
    { args, options },
    {
      env: process.env,
      display,
      writeOut: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
      now: runtime.now,
      isInterrupted: () => interrupted.signal.aborted,
      wait: (ms) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, ms);
          interrupted.signal.addEventListener("abort", () => resolve(clearTimeout(timer)));
        }),
    },
  );
  process.exitCode = code;
}

/** One line and a hint, because nobody reads a whole help after a typing error. */
function failUsage(message: string, code: number = EXIT.usage): void {
  process.stderr.write(`agent-relay: ${message}\ntry agent-relay --help\n`);
  return exit(code);
}

function readEnvironment(env: NodeJS.ProcessEnv | Record<string, string>): Config | undefined {
  const read = readConfig(env);
  if (read.ok) return read.config;
  const log = createProcessLog("error", []);
  for (const { variable, message } of read.faults) {
    log.error("config.invalid", { variable, detail: message });
  }
  return undefined;
}

async function checkConfiguration(config: Config): Promise<void> {
  const faults = await checkStart(config);
  const log = createProcessLog("error", []);
  for (const { variable, message } of faults)
    log.error("config.unusable", { variable, detail: message });
  if (faults.length > 0) return exit(1);
  process.stdout.write("configuration is valid\n");
}

function main(): Promise<void> | void {
  const tooOld = checkNodeVersion(process.versions.node);
  if (tooOld !== undefined) {
    process.stderr.write(`${tooOld}\n`);
    return exit(1);
  }
  const line = parseCommandLine(process.argv.slice(2));
  if (!line.ok) return failUsage(line.message);
  const { name, args, flags, options } = line;
  if (flags.help === true) return void process.stdout.write(`${formatUsage()}\n`);
  if (flags.version === true) return void process.stdout.write(`${version}\n`);
  if (name !== undefined && name in commands) {
    return runDatabaseCommand(name, args, flags, options);
  }
  if (name !== undefined && name !== "dev") return runCommand(name, args, options);
  const [surplus] = Object.keys(options);
  if (surplus !== undefined) return failUsage(`--${surplus} needs a command`);
  const isDev = name === "dev";
  const config = readEnvironment(
    isDev ? createDevEnvironment(process.env, runtime.randomBytes) : process.env,
  );
  if (config === undefined) return exit(1);
  if (flags["check-config"] === true) return checkConfiguration(config);
  return runRelay(config, isDev ? announceDev : announceRelay);
}

await main();
