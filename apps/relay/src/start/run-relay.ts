import { collectDefaultMetrics } from "prom-client";
import { formatBlocks, type Display } from "../command-line/format-blocks.ts";
import { listSecrets } from "../config/list-secrets.ts";
import type { Config } from "../config/config.ts";
import { readTokenFile } from "../identity/read-token-file.ts";
import type { LogLevel, RootLog } from "../observability/log.ts";
import { openRelay, type OpenRelay } from "../open-relay.ts";
import type { Runtime } from "../runtime.ts";
import { serve, type RunningServer } from "../serve.ts";
import { version } from "../version.ts";
import { describeListenFault } from "./check-start.ts";
import { createConsoleCode } from "./create-console-code.ts";
import { describeStart, getLocalAddress } from "./describe-start.ts";
import { startSampleAgents } from "./sample-agents.ts";

const SHUTDOWN_GRACE_MS = 8_000;

/** The process in which a relay runs. */
export interface RelayProcess {
  /** The default name of this process among those that share a database. */
  readonly name: string;
  readonly runtime: Runtime;
  readonly display: Display;
  /** Whether a person reads the output. */
  readonly isTerminal: boolean;
  readonly createLog: (level: LogLevel, secrets: readonly string[]) => RootLog;
  /** Prints a line for a person. */
  readonly print: (text: string) => void;
  readonly onSignal: (signal: "SIGTERM" | "SIGINT" | "SIGHUP", react: () => void) => void;
  readonly onFault: (report: (event: string, error: unknown) => void) => void;
  readonly exit: (code: number) => void;
}

/** Runs a relay until a signal ends it; `isDev` adds sample agents. */
export async function runRelay(
  config: Config,
  host: RelayProcess,
  { isDev }: { readonly isDev: boolean },
): Promise<void> {
  const log = host.createLog(config.server.logLevel, listSecrets(config));
  host.onFault((event, error) => {
    log.error(event, { error: error instanceof Error ? error.stack : String(error) });
  });
  try {
    await startRelay(config, host, log, isDev);
  } catch (error) {
    log.error("relay.start_failed", {
      error: error instanceof Error ? error.stack : String(error),
    });
    host.exit(1);
  }
}

async function startRelay(
  config: Config,
  host: RelayProcess,
  log: RootLog,
  isDev: boolean,
): Promise<void> {
  const { runtime, exit } = host;
  const { processName = host.name } = config.storage;
  const named = { ...config, storage: { ...config.storage, processName } };
  const relay = await openRelay(named, runtime, log);
  if (!relay.ok) {
    log.error("relay.start_refused", { code: relay.code, detail: relay.detail });
    return exit(1);
  }
  // It is ready for requests before this resolves, and from then on a signal must end it with a drain.
  const starting = serve(relay, runtime, config.server);
  let stopSamples = () => {};
  stopOnSignals(host, log, async () => {
    stopSamples();
    await (await starting).stop(SHUTDOWN_GRACE_MS);
  });
  let serving: RunningServer;
  try {
    serving = await starting;
  } catch (error) {
    const cause = error instanceof Error ? error : new Error("unknown");
    const { variable, message: detail } = describeListenFault(cause, config.server.port);
    log.error("relay.listen_failed", { variable, detail, error: cause.message });
    await relay.close();
    return exit(1);
  }
  // Metrics of the process are added here, because only here one relay runs in it.
  collectDefaultMetrics({ register: relay.metrics });
  stopSamples = await announce(config, host, log, { relay, serving, isDev });
  const { apiTokenFile: file } = config;
  if (file !== undefined) host.onSignal("SIGHUP", () => reloadTokens(file, relay, log));
}

/** Announces the start on the terminal or in the log; returns a function that stops the sample agents. */
async function announce(
  config: Config,
  { runtime, print, display, isTerminal }: RelayProcess,
  log: RootLog,
  started: { readonly relay: OpenRelay; readonly serving: RunningServer; readonly isDev: boolean },
): Promise<() => void> {
  const { relay, serving, isDev } = started;
  const { host, port } = serving;
  const { relayId } = relay;
  const frozen = relay.freezer.frozen();
  if (isDev) {
    const baseUrl = getLocalAddress({ config, port });
    const [masterToken = ""] = config.apiTokens;
    const samples = await startSampleAgents({ baseUrl, masterToken, runtime });
    const code = (await createConsoleCode(config, relay)) ?? "";
    print(`${baseUrl}/console#code=${code}`);
    print("two sample agents work at this relay in memory; Ctrl-C ends it");
    print(`ask it: AGENT_RELAY_URL=${baseUrl} AGENT_API_TOKEN=${masterToken} agent-relay status`);
    return () => samples.stop();
  }
  if (isTerminal) {
    const code = await createConsoleCode(config, relay);
    print(formatBlocks(describeStart({ config, relayId, port, frozen, code }), display));
    return () => {};
  }
  if (frozen !== undefined) {
    log.warn("relay.starts_frozen", { reason: frozen.reason, since: frozen.since });
  }
  log.info("relay.listening", { host, port, relay_id: relayId, version });
  return () => {};
}

function stopOnSignals(
  { onSignal, exit }: RelayProcess,
  log: RootLog,
  stopServing: () => Promise<void>,
): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info("relay.draining", { signal });
    try {
      await stopServing();
      log.info("relay.stopped", {});
      exit(0);
    } catch (error) {
      log.error("relay.stop_failed", { error: String(error) });
      exit(1);
    }
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) onSignal(signal, () => void stop(signal));
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
