import { isUuid, HEX_OF_32_BYTES } from "@agent/crypto";
import { findUsageFault, parseOptions } from "@agent/command-line";
import { KEY_TYPES, parseVerifierKey, type VerifierKey } from "@agent/transparency";

/** The parsed request of a command line. */
export type MonitorRequest =
  | { readonly ask: "help" }
  | { readonly ask: "refused"; readonly message: string }
  | {
      readonly ask: "monitor";
      readonly logKey: VerifierKey;
      readonly prefix: string;
      readonly stateFile: string;
      readonly agentIds: readonly string[];
      readonly keys: readonly string[];
      readonly knownFile: string | undefined;
      readonly witnesses: readonly { readonly key: VerifierKey; readonly prefix: string }[];
      readonly quorum: number;
      readonly json: boolean;
    };

export const USAGE = `agent-monitor --log VKEY --url PREFIX --state FILE [options]

Checks a transparency log once: that it only grew since the last time, that its witnesses see the same log,
and that its new entries about your agents and keys are yours. Run it every hour.

Exits with 0 if there is no alarm, with 1 on an alarm, with 2 for invalid usage or an unreadable state file,
and with 3 if the log is unreachable. Runs for at most half an hour; the next run continues from there.

  --log VKEY       the verifier key of the log
  --url PREFIX     the URL prefix of the log
  --state FILE     stores the last head; contradicting checkpoints are added to FILE.evidence
  --agent ID       an agent to watch in the entries not scanned yet; may be given again
  --key HEX        a public key of yours, 64 hex digits; may be given again
  --known FILE     artifact hashes (64 hex digits) and task ids that you know, one per line
  --witness "VKEY PREFIX"  a witness and the URL where it publishes its cosignatures; may be given again
  --quorum N       how many of these witnesses must have cosigned the head; 0 by default
  --json           print one line of JSON per alarm, and one if nothing could be checked
  --help           print this text
`;

const monitorOptions = {
  log: { type: "string" },
  url: { type: "string" },
  state: { type: "string" },
  agent: { type: "string", multiple: true },
  key: { type: "string", multiple: true },
  known: { type: "string" },
  witness: { type: "string", multiple: true },
  quorum: { type: "string", default: "0" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export function parseMonitorArguments(args: readonly string[]): MonitorRequest {
  const parsed = parseOptions(args, monitorOptions);
  if (!parsed.ok) return refuse(parsed.message);
  const { values, positionals } = parsed;
  if (values.help) return { ask: "help" };
  const fault = findUsageFault("agent-monitor", { args: positionals, options: [] });
  if (fault !== undefined) return refuse(fault);
  const log = parseVerifierKey(values.log ?? "", KEY_TYPES.log);
  if (!log.ok) return refuse(LOG_RULE);
  const prefix = parsePrefix(values.url ?? "");
  if (prefix === null) return refuse("--url takes an http or https URL without a final slash");
  if (values.state === undefined) return refuse("--state takes a file");
  const { agent: agentIds = [], key: keys = [] } = values;
  if (!agentIds.every(isUuid)) {
    return refuse("--agent takes the id of an agent, a UUID in lower case");
  }
  const wrongKey = keys.some((key) => !HEX_OF_32_BYTES.test(key));
  if (wrongKey) return refuse("--key takes 64 lower-case hex digits");
  const witnesses = (values.witness ?? []).map(parseWitness).filter((each) => each !== null);
  if (witnesses.length < (values.witness ?? []).length) {
    return refuse('--witness takes "VKEY PREFIX", the verifier key of a witness and its URL');
  }
  const quorum = /^\d{1,2}$/.test(values.quorum) ? Number(values.quorum) : Number.NaN;
  if (!(quorum <= witnesses.length)) {
    return refuse("--quorum takes a number up to that of the witnesses");
  }
  return {
    ask: "monitor",
    logKey: log.key,
    prefix,
    stateFile: values.state,
    agentIds,
    keys,
    knownFile: values.known,
    witnesses,
    quorum,
    json: values.json,
  };
}

const LOG_RULE =
  "--log takes the verifier key of a log: log.vkey in the relay's /.well-known/agent-relay.json";

function parseWitness(text: string) {
  const [vkey = "", url = "", ...more] = text.split(" ");
  const [parsed, prefix] = [parseVerifierKey(vkey, KEY_TYPES.witness), parsePrefix(url)];
  return !parsed.ok || prefix === null || more.length > 0 ? null : { key: parsed.key, prefix };
}

function parsePrefix(text: string): string | null {
  return URL.canParse(text) && /^https?:\/\/[^?#]*[^?#/]$/.test(text) ? text : null;
}

const refuse = (message: string): MonitorRequest => ({ ask: "refused", message });
