#!/usr/bin/env node
import { availableParallelism, hostname } from "node:os";
import {
  checkNodeVersion,
  findUsageFault,
  formatUsageRefusal,
  watchOutput,
} from "@agent/command-line";
import { createRelayClock } from "./clock/relay-clock.ts";
import type { Display } from "./command-line/format-blocks.ts";
import type { OperatorOptions } from "./command-line/operator-command.ts";
import { operatorCommands } from "./command-line/operator-commands.ts";
import { EXIT, runOperatorCommand } from "./command-line/run-operator-command.ts";
import { listUnknownVariables, readConfig, type Environment } from "./config/read-config.ts";
import type { Config } from "./config/config.ts";
import { createBufferedWriter } from "./http/server/buffered-writer.ts";
import { createLog, type LogLevel } from "./observability/log.ts";
import { createRandomPool } from "./random-pool.ts";
import type { Runtime } from "./runtime.ts";
import { choosePoolSize } from "./start/choose-pool-size.ts";
import { createDevEnvironment } from "./start/dev-environment.ts";
import { formatLogLine } from "./start/format-log-line.ts";
import { parseCommandLine, type ProcessFlags } from "./start/parse-command-line.ts";
import type { RelayProcess } from "./start/run-relay.ts";
import { version } from "./version.ts";

const clock = createRelayClock({ wall: Date.now, monotonic: () => performance.now() });

const runtime: Runtime = {
  now: clock.now,
  clock,
  monotonic: clock.elapsed,
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

const ignoreLostOutput = watchOutput(process, (message) => {
  process.stderr.write(`agent-relay: ${message}\n`);
  process.exit(EXIT.refused);
});

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

const relayProcess: RelayProcess = {
  name: `${hostname()}-${process.pid}`,
  runtime,
  display,
  isTerminal,
  createLog: createProcessLog,
  print: (text) => void process.stdout.write(`${text}\n`),
  onSignal: (signal, react) => void process.on(signal, react),
  onFault(report) {
    process.on("uncaughtException", (error) => report("process.uncaught", error));
    process.on("unhandledRejection", (reason) => report("process.unhandled", reason));
  },
  exit,
};

/** Runs a command on the database, which needs only its place and the passphrase. */
async function runDatabaseCommand(
  name: string,
  args: readonly string[],
  flags: ProcessFlags,
  options: OperatorOptions,
): Promise<void> {
  const { commands } = await import("./database-commands.ts");
  const known = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (known === undefined) return failUsage(`there is no command ${JSON.stringify(name)}`);
  const fault = findUsageFault(known.usage, {
    args,
    options: Object.keys({ ...flags, ...options }),
  });
  if (fault !== undefined) return failUsage(fault, { usage: known.usage });
  const { status = false, stolen = false } = flags;
  const { reason, from, to } = options;
  const passphrase = process.env["AGENT_RELAY_KEY_PASSPHRASE"];
  const path = process.env["AGENT_DB_PATH"]?.trim() ?? "";
  const url = process.env["AGENT_DATABASE_URL"]?.trim() ?? "";
  if (name !== "copy" && (path === "") === (url === "")) {
    return failUsage("AGENT_DB_PATH or AGENT_DATABASE_URL must name the database");
  }
  const {
    ok,
    text,
    isReport = ok,
  } = await known.run({
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
  (isReport ? process.stdout : process.stderr).write(`${text}\n`);
  return exit(ok ? EXIT.done : EXIT.refused);
}

/** Runs a command against a running relay. */
async function runCommand(
  command: NonNullable<(typeof operatorCommands)[string]>,
  args: readonly string[],
  options: OperatorOptions,
): Promise<void> {
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  // Without this a command that follows events would run on after its reader has ended.
  process.stdout.once("error", () => interrupted.abort());
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

function failUsage(message: string, { usage }: { readonly usage?: string } = {}): void {
  const isJson = process.argv.includes("--json");
  const { out, err } = formatUsageRefusal({ program: "agent-relay", message, usage, isJson });
  process.stdout.write(out);
  process.stderr.write(err);
  return exit(EXIT.usage);
}

function readEnvironment(env: Environment): Config | undefined {
  const read = readConfig(env);
  if (read.ok) return read.config;
  const log = createProcessLog("error", []);
  for (const { variable, message } of read.faults) {
    log.error("config.invalid", { variable, detail: message });
  }
  return undefined;
}

function warnOfUnknownVariables(env: Environment): void {
  const detail = "the relay has no variable of this name, so it has no effect";
  const log = createProcessLog("warn", []);
  for (const variable of listUnknownVariables(env)) {
    log.warn("config.unknown_variable", { variable, detail });
  }
}

async function checkConfiguration(config: Config): Promise<void> {
  const { checkStart } = await import("./start/check-start.ts");
  const faults = await checkStart(config);
  const log = createProcessLog("warn", []);
  for (const { variable, message, isInUse } of faults) {
    log[isInUse ? "warn" : "error"]("config.unusable", { variable, detail: message });
  }
  if (faults.some(({ isInUse }) => !isInUse)) return exit(1);
  process.stdout.write("configuration is valid\n");
}

const DEV_USAGE = "dev [--check-config]";

async function showUsage(): Promise<void> {
  const { formatUsage } = await import("./start/usage.ts");
  process.stdout.write(`${formatUsage()}\n`);
}

async function start(isDev: boolean, { "check-config": isCheck }: ProcessFlags): Promise<void> {
  // The relay must run on without its log; logging that error would fail again.
  if (isCheck !== true) ignoreLostOutput();
  const env = isDev ? createDevEnvironment(process.env, runtime.randomBytes) : process.env;
  const config = readEnvironment(env);
  warnOfUnknownVariables(env);
  if (config === undefined) return exit(1);
  if (isCheck === true) return checkConfiguration(config);
  // Node.js reads it when the pool is first used, which may be by the import below.
  process.env["UV_THREADPOOL_SIZE"] ??= String(choosePoolSize(availableParallelism()));
  // The relay is loaded only where one starts, so that commands answer quickly.
  const { runRelay } = await import("./start/run-relay.ts");
  return runRelay(config, relayProcess, { isDev });
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
  if (flags.help === true) return showUsage();
  if (flags.version === true) return void process.stdout.write(`${version}\n`);
  if (name === "dev") {
    const fault = findUsageFault(DEV_USAGE, {
      args,
      options: Object.keys({ ...flags, ...options }),
    });
    return fault === undefined ? start(true, flags) : failUsage(fault);
  }
  if (name !== undefined) {
    const command = Object.hasOwn(operatorCommands, name) ? operatorCommands[name] : undefined;
    if (command === undefined) return runDatabaseCommand(name, args, flags, options);
    const [foreign] = Object.keys(flags);
    return foreign === undefined
      ? runCommand(command, args, options)
      : failUsage(`${name} takes no --${foreign}`);
  }
  const { "check-config": _, ...commandFlags } = flags;
  const [surplus] = Object.keys({ ...commandFlags, ...options });
  if (surplus !== undefined) return failUsage(`--${surplus} needs a command`);
  return start(false, flags);
}

await main();
