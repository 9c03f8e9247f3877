import { createMonitor, type MonitorAlarm, type MonitorState } from "@agent/client";
import {
  formatVerifierKey,
  isLaterGeneration,
  parseVerifierKey,
  type VerifierKey,
} from "@agent/transparency";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";
import { findRelayLog } from "./find-relay-log.ts";
import { openMonitorFiles } from "./monitor-files.ts";
import type { ReceiptHashes } from "./receipt-hashes.ts";

/** Watches the log of the joined relay for entries about this agent that are not its own. */
export interface RelayMonitor {
  /** Runs the first round now and the others at their interval. */
  start(): void;
  /** Resolves when no round runs and none will. */
  stop(): Promise<void>;
}

export interface RelayMonitorParts {
  /** The relay's address without a slash at its end. */
  readonly url: string;
  readonly identity: Pick<Identity, "agentId" | "publicKey">;
  readonly membership: () => Membership | undefined;
  readonly receiptHashes: Pick<ReceiptHashes, "hashes">;
  /** The folder of what is kept between rounds. */
  readonly folder: string;
  /** 0 disables the rounds. */
  readonly intervalMs: number;
  readonly runtime: Runtime;
}

/** An alarm's line names so many entries; a relay can make any number of them. */
const MAX_LISTED = 20;

/** Creates the monitor of a relay's log; one round runs at a time. */
export function createRelayMonitor(parts: RelayMonitorParts): RelayMonitor {
  const { membership, intervalMs, runtime } = parts;
  const stopping = new AbortController();
  let started = false;
  let running = Promise.resolve();
  let cancelNext = () => {};

  /** A stopping agent does not wait for a slow relay. */
  const stoppableFetch: typeof fetch = (input, init = {}) => {
    const signals = [stopping.signal, ...(init.signal ? [init.signal] : [])];
    return runtime.fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };

  async function runRound(): Promise<void> {
    const joined = membership();
    // The next round may find the relay joined again.
    if (joined === undefined) return;
    try {
      await checkLog(parts, joined.relay, { ...runtime, fetch: stoppableFetch });
    } catch (cause) {
      if (stopping.signal.aborted) return;
      runtime.log("error", "monitor.failed", { cause: String(cause) });
    }
  }

  function run(): void {
    running = runRound().then(() => {
      if (!stopping.signal.aborted) cancelNext = runtime.schedule(intervalMs, run);
    });
  }

  return {
    start() {
      if (started || intervalMs === 0 || stopping.signal.aborted) return;
      started = true;
      run();
    },
    async stop() {
      stopping.abort();
      cancelNext();
      await running;
    },
  };
}

type JoinedRelay = Membership["relay"];

async function checkLog(
  { url, identity, receiptHashes, folder }: RelayMonitorParts,
  relay: JoinedRelay,
  runtime: Runtime,
): Promise<void> {
  const { log } = runtime;
  const { relayId: relay_id } = relay;
  const files = openMonitorFiles(folder, relay_id);
  const before = await files.load();
  const found = await findRelayLog(url, relay, runtime);
  if (!found.ok) return log("warn", "monitor.unreachable", { relay_id, code: found.code });
  const { logKey } = found;
  if (logKey === null) {
    // A relay that had a log and now denies it can hide what it signs.
    return log(before === null ? "debug" : "error", "monitor.no_log", { relay_id });
  }
  const origin = logKey.name;
  const followed = followLog(before, logKey);
  if (followed === "log.key_changed") return log("error", followed, { relay_id, origin });
  if (followed === "new_generation") log("warn", "monitor.new_generation", { relay_id, origin });
  const monitor = createMonitor({
    // The stated address may lie in a network that only this agent reaches.
    prefix: `${url}/log/v1`,
    logKey,
    watch: {
      agentIds: [identity.agentId],
      keys: [identity.publicKey],
      knownArtifacts: receiptHashes.hashes,
      knownRefs: [],
    },
    state: {
      load: () => Promise.resolve(followed === "same" ? before : null),
      save: (state) => files.save(state),
    },
    async report(alarms) {
      for (const alarm of alarms) if (alarm.evidence !== undefined) await files.keepEvidence(alarm);
      logAlarms(alarms, { relay_id, origin }, log);
    },
    fetch: runtime.fetch,
    now: runtime.now,
    schedule: runtime.schedule,
  });
  const result = await monitor.check();
  if (!result.ok) log("warn", "monitor.unreachable", { relay_id, code: result.code });
  else if (result.alarms.length === 0) {
    log("debug", "monitor.quiet", { relay_id, origin, size: result.size });
  }
}

/** Compares the stated log with the one of the round before. */
function followLog(
  before: MonitorState | null,
  logKey: VerifierKey,
): "same" | "new_generation" | "log.key_changed" {
  if (before === null || before.log === formatVerifierKey(logKey)) return "same";
  const known = parseVerifierKey(before.log);
  const isLater = known.ok && isLaterGeneration(known.key.name, logKey.name);
  return isLater ? "new_generation" : "log.key_changed";
}

/** Writes one line for each code. */
function logAlarms(
  alarms: readonly MonitorAlarm[],
  about: { readonly relay_id: string; readonly origin: string },
  log: Runtime["log"],
): void {
  for (const [code, some] of Map.groupBy(alarms, (alarm) => alarm.code)) {
    const indexes = some.flatMap(({ index }) => index ?? []).slice(0, MAX_LISTED);
    log("error", code, { ...about, count: some.length, ...(indexes.length > 0 && { indexes }) });
  }
}
