import { appendFile, readFile } from "node:fs/promises";
import { formatError, HEX_OF_32_BYTES } from "@agent/crypto";
import { formatFault, formatSafeJson, formatUsageRefusal, makeSafe } from "@agent/command-line";
import { readFileIfPresent, writePrivateText } from "@agent/crypto/private-file";
import { formatVerifierKey } from "@agent/transparency";
import { createMonitor, type MonitorAlarm } from "../monitor.ts";
import { type MonitorState, parseMonitorState } from "../monitor-state.ts";
import {
  type MonitorRequest,
  parseMonitorArguments,
  USAGE,
} from "./parse-monitor-arguments.node.ts";

/** The outputs and the clock of the command. */
export interface MonitorEnvironment {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => number;
}

const EXIT_QUIET = 0;
const EXIT_ALARM = 1;
const EXIT_USAGE = 2;
const EXIT_UNREACHABLE = 3;

/** Runs one round of `agent-monitor` and returns its exit code. */
export async function runMonitor(
  args: readonly string[],
  environment: MonitorEnvironment,
): Promise<number> {
  const request = parseMonitorArguments(args);
  if (request.ask === "help") {
    environment.out(USAGE);
    return EXIT_QUIET;
  }
  if (request.ask === "refused") {
    const { message } = request;
    const isJson = args.includes("--json");
    const refusal = formatUsageRefusal({ program: "agent-monitor", message, isJson });
    environment.out(refusal.out);
    environment.err(refusal.err);
    return EXIT_USAGE;
  }
  try {
    return await monitorOnce(request, environment);
  } catch (error) {
    const message = formatError(error);
    printFault(environment, { code: "command.invalid", message, isJson: request.json });
    return EXIT_USAGE;
  }
}

async function monitorOnce(
  request: Extract<MonitorRequest, { readonly ask: "monitor" }>,
  environment: MonitorEnvironment,
): Promise<number> {
  const { out, now } = environment;
  const { logKey, stateFile, json } = request;
  const known = await readKnown(request.knownFile);
  let isAlarmed = false;
  const stored = await readState(stateFile, formatVerifierKey(logKey));
  const monitor = createMonitor({
    ...request,
    now,
    watch: { agentIds: request.agentIds, keys: request.keys, ...known },
    state: {
      load: () => Promise.resolve(stored),
      save: (state) => writePrivateText(stateFile, `${JSON.stringify(state)}\n`),
    },
    report: async (alarms) => {
      isAlarmed = true;
      for (const alarm of alarms) {
        if (alarm.evidence !== undefined) await keepEvidence(`${stateFile}.evidence`, alarm);
        out(json ? `${formatSafeJson(alarm)}\n` : formatAlarm(alarm));
      }
    },
  });
  const result = await monitor.check();
  if (!result.ok) {
    const message = `the log cannot be read: ${result.detail}`;
    printFault(environment, { code: "monitor.unreachable", message, isJson: json });
    // An alarm is not repeated in the next round, so it takes precedence over an incomplete round.
    return isAlarmed ? EXIT_ALARM : EXIT_UNREACHABLE;
  }
  if (isAlarmed) return EXIT_ALARM;
  if (!json) out(`quiet at ${result.size} entries\n`);
  return EXIT_QUIET;
}

/** With `--json` an empty output means that nothing is wrong, so a round without a result prints a line too. */
function printFault(
  { out, err }: MonitorEnvironment,
  { code, message, isJson }: { readonly code: string; readonly message: string; isJson: boolean },
): void {
  if (isJson) out(formatFault({ code, message, status: 0 }));
  err(`agent-monitor: ${makeSafe(message)}\n`);
}

function formatAlarm({ code, index, evidence }: MonitorAlarm): string {
  const place = index === undefined ? "" : ` at index ${index}`;
  const kept = evidence === undefined ? "" : "; both checkpoints are in the evidence file";
  const meaning = MEANINGS[code];
  return `ALARM ${code}${place}${meaning === undefined ? "" : `: ${meaning}`}${kept}\n`;
}

/** The first round reports each entry of an agent that the user did not list as known. */
const MEANINGS: { readonly [Code in MonitorAlarm["code"]]?: string } = {
  "monitor.unknown_key": "a key that --key does not name was bound to the agent",
  "monitor.unknown_receipt": "--known does not list this receipt",
  "monitor.unknown_settlement": "--known lists no receipt of the task that was paid",
  "monitor.twice": "a task has a second receipt or settlement, or a receipt a second task",
};

/** Reads artifact hashes and task ids, one per line; `#` begins a comment. */
async function readKnown(file: string | undefined) {
  const text = file === undefined ? "" : await readFile(file, "utf8");
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  const values = lines.filter((line) => line !== "");
  const isHash = (value: string) => HEX_OF_32_BYTES.test(value);
  return {
    knownArtifacts: values.filter(isHash),
    knownRefs: values.filter((value) => !isHash(value)),
  };
}

/** Refuses a state of another log or in another form, because starting over would hide a rollback. */
async function readState(file: string, log: string): Promise<MonitorState | null> {
  const text = await readFileIfPresent(file);
  if (text === undefined) return null;
  const state = parseMonitorState(text);
  if (state === null) throw new Error(`${file}: is not a monitor state file`);
  if (state.log !== log) throw new Error(`${file}: is the state of another log`);
  return state;
}

async function keepEvidence(path: string, alarm: MonitorAlarm): Promise<void> {
  await appendFile(path, `${JSON.stringify(alarm)}\n`, { mode: 0o600 });
}
