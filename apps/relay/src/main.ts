#!/usr/bin/env node
import { hostname } from "node:os";
import { parseArgs } from "node:util";
import { collectDefaultMetrics } from "prom-client";
import { createRelayClock } from "./clock/relay-clock.ts";
import { commands } from "./commands.ts";
import { formatVariables } from "./config-variables.ts";
import { readConfig, listSecrets, type Config } from "./config.ts";
import { createBufferedWriter } from "./http/server/buffered-writer.ts";
import { createLog, type LogLevel, type RootLog } from "./observability/log.ts";
import { openRelay, type OpenRelay } from "./open-relay.ts";
import { createRandomPool } from "./random-pool.ts";
import { readTokenFile } from "./identity/read-token-file.ts";
import type { Runtime } from "./runtime.ts";
import { serve, type RunningServer } from "./serve.ts";
import { version } from "./version.ts";

const USAGE = `agent-relay ${version}

Usage: agent-relay [--check-config | --help | --version]
       agent-relay <command>

Listens on AGENT_HOST:PORT until SIGTERM or SIGINT. The commands are for the database:

${Object.values(commands)
  .map(({ usage: form, purpose }) => `  ${form.padEnd(20)}${purpose}`)
  .join("\n")}

Everything is configured by environment:

${formatVariables()}`;

const SHUTDOWN_GRACE_MS = 8_000;

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

const stdoutWriter = createBufferedWriter(process.stdout, setImmediate);
const stderrWriter = createBufferedWriter(process.stderr, setImmediate);

// The reader of the log may close the pipe; logging that error would fail again.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

function flush(): void {
  stdoutWriter.flush();
  stderrWriter.flush();
}

function createProcessLog(level: LogLevel, secrets: readonly string[]) {
  return createLog({
    level,
    write: { stdout: stdoutWriter.write, stderr: stderrWriter.write },
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

async function runRelay(config: Config): Promise<void> {
  const log = createProcessLog(config.server.logLevel, listSecrets(config));
  process.on("uncaughtException", (error) => {
    log.error("process.uncaught", { error: error.stack ?? error.message });
  });
  process.on("unhandledRejection", (reason) => {
    log.error("process.unhandled", { error: String(reason) });
  });
  try {
    await startRelay(config, log);
  } catch (error) {
    log.error("relay.start_failed", {
      error: error instanceof Error ? error.stack : String(error),
    });
    exit(1);
  }
}

async function startRelay(config: Config, log: RootLog): Promise<void> {
  const processName = config.storage.processName ?? `${hostname()}-${process.pid}`;
  const named = { ...config, storage: { ...config.storage, processName } };
  const relay = await openRelay(named, runtime, log);
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
  log.info("relay.listening", { host, port, relay_id: relay.relayId, version });

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info("relay.draining", { signal });
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

interface CommandFlags {
  readonly status?: boolean;
  readonly stolen?: boolean;
  readonly reason?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Runs a command of the operator, which needs only the database path and passphrase. */
async function runCommand(
  name: string,
  rest: readonly string[],
  { status = false, stolen = false, reason, from, to }: CommandFlags,
): Promise<void> {
  const passphrase = process.env["AGENT_RELAY_KEY_PASSPHRASE"];
  const known = commands[name];
  const path = process.env["AGENT_DB_PATH"]?.trim() ?? "";
  const url = process.env["AGENT_DATABASE_URL"]?.trim() ?? "";
  const { ok, text } =
    known === undefined
      ? { ok: false, text: `there is no command ${JSON.stringify(name)}\n\n${USAGE}` }
      : name !== "copy" && (path === "") === (url === "")
        ? { ok: false, text: "AGENT_DB_PATH or AGENT_DATABASE_URL must name the database" }
        : await known.run({
            arguments: rest,
            status,
            stolen,
            ...(url === "" ? { path } : { url }),
            now: runtime.now(),
            randomBytes: runtime.randomBytes,
            ...(passphrase !== undefined && passphrase.trim() !== "" && { passphrase }),
            ...(reason !== undefined && { reason }),
            ...(name === "copy" && { from: from ?? path, to: to ?? url }),
          });
  (ok ? process.stdout : process.stderr).write(`${text}\n`);
  return exit(ok ? 0 : 1);
}

function main(): Promise<void> | void {
  let flags;
  let positionals;
  try {
    ({ values: flags, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
        "check-config": { type: "boolean" },
        status: { type: "boolean" },
        stolen: { type: "boolean" },
        reason: { type: "string" },
        from: { type: "string" },
        to: { type: "string" },
      },
    }));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : ""}\n\n${USAGE}\n`);
    return exit(1);
  }
  if (flags.help === true) return void process.stdout.write(`${USAGE}\n`);
  if (flags.version === true) return void process.stdout.write(`${version}\n`);

  const [name, ...rest] = positionals;
  if (name !== undefined) {
    return runCommand(name, rest, flags);
  }

  const read = readConfig(process.env);
  if (!read.ok) {
    const log = createProcessLog("error", []);
    for (const { variable, message } of read.faults) {
      log.error("config.invalid", { variable, detail: message });
    }
    return exit(1);
  }
  if (flags["check-config"] === true) {
    return void process.stdout.write("configuration is valid\n");
  }
  return runRelay(read.config);
}

await main();
