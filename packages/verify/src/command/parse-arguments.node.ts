import { parseOptions } from "@agent/command-line";
import type { LogOptions } from "../artifacts/options.ts";
import type { NamedKey } from "../keys/named-keys.ts";
import { NAMED_KEY_FORM, parseNamedKey } from "../keys/parse-named-key.ts";
import { parseLogOptions } from "../log/parse-log-options.ts";

/** The parsed request of a command line. */
export type Request =
  | { readonly ask: "help" | "version" }
  | { readonly ask: "refused"; readonly message: string }
  | {
      readonly ask: "verify";
      /** `-` is the standard input. */
      readonly files: readonly string[];
      readonly json: boolean;
      readonly explain: boolean;
      /** The keys given by `--key`; undefined without any. */
      readonly keys: readonly NamedKey[] | undefined;
      /** The trust files, whose keys are added. */
      readonly trustFiles: readonly string[];
      readonly allowUnanchored: boolean;
      readonly now: number | undefined;
      readonly taskId: string | undefined;
      /** The file with the succession records of the relay's key. */
      readonly successionFile: string | undefined;
      /** The file that the result of the only artifact must refer to. */
      readonly resultFile: string | undefined;
      /** The proof file of the only artifact. */
      readonly proofFile: string | undefined;
      readonly log: LogOptions;
    };

export const USAGE = `agent-verify [options] [FILE...]

Verifies receipts, credentials, presentations, ledgers, key successions, settlement records,
attestations, delegation tokens, evidence bundles, log proofs and checkpoints, offline. Reads standard
input if FILE is missing or -. The first lines of the output describe the artifact's claim and its signer.

Exits with 0 if every artifact is valid, with 1 if one is refused, with 2 if one is unreadable or of an
unknown kind, and with 3 if the only thing missing is the key of the relay that signed a bundle, a
settlement record or a no-show record, because anyone can invent a relay.

  --key KEY           the key that must have signed: 64 hex digits or a did:key; may be given again.
                      KEY=agent, KEY=relay, KEY=agent:ID and KEY=relay:ID name its owner, and the
                      key then counts for no other owner
  --trust FILE        a file of such keys, one per line; # begins a comment; may be given again
  --allow-unanchored  exit with 0 instead of 3
  --succession FILE   the succession records of the relay's key, from its /.well-known/agent-relay.json;
                      a --key may then be any key of this chain
  --task ID           the task that a receipt, an attestation or a bundle must be about
  --file FILE         the file that the result of a receipt or a bundle refers to, whose hash and
                      length must be the signed ones; for one artifact at a time
  --log VKEY          the verifier key of the transparency log that must contain the artifact
  --witness VKEY      the verifier key of a witness whose cosignature counts; may be given again
  --quorum N          how many of these witnesses must have cosigned the log; 1 by default
  --proof FILE        the proof that the log contains the artifact; for one artifact at a time
  --now TIME          the time to use instead of the clock: ISO 8601, or ms since 1970
  --explain           show every check, with what it proves and what it does not
  --json              print one line of JSON per file
  --help              print this text
  --version           print the version
`;

const verifyOptions = {
  key: { type: "string", multiple: true },
  trust: { type: "string", multiple: true },
  "allow-unanchored": { type: "boolean", default: false },
  succession: { type: "string" },
  task: { type: "string" },
  file: { type: "string" },
  log: { type: "string" },
  witness: { type: "string", multiple: true },
  quorum: { type: "string" },
  proof: { type: "string" },
  now: { type: "string" },
  explain: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const;

export function parseArguments(args: readonly string[]): Request {
  const parsed = parseOptions(args, verifyOptions);
  if (!parsed.ok) return buildRefusal(parsed.message);
  const { values, positionals } = parsed;
  if (values.help) return { ask: "help" };
  if (values.version) return { ask: "version" };
  const keys = values.key?.map(parseNamedKey);
  if (keys?.includes(null)) return buildRefusal(`--key takes ${NAMED_KEY_FORM}`);
  const now = values.now === undefined ? undefined : parseTime(values.now);
  if (now !== undefined && Number.isNaN(now)) {
    return buildRefusal("--now takes an ISO 8601 date or ms since 1970");
  }
  if (values.file !== undefined && positionals.length > 1) {
    return buildRefusal("--file takes one receipt or bundle at a time");
  }
  if (values.proof !== undefined && positionals.length > 1) {
    return buildRefusal("--proof takes one artifact at a time");
  }
  const log = parseLogOptions(values);
  if (!log.ok) return buildRefusal(`--${log.option} ${log.message}`);
  return {
    ask: "verify",
    files: positionals.length > 0 ? positionals : ["-"],
    json: values.json,
    explain: values.explain,
    trustFiles: values.trust ?? [],
    allowUnanchored: values["allow-unanchored"],
    keys: keys?.filter((key) => key !== null),
    now,
    taskId: values.task,
    successionFile: values.succession,
    resultFile: values.file,
    proofFile: values.proof,
    log: log.options,
  };
}

function parseTime(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

function buildRefusal(message: string): Request {
  return { ask: "refused", message };
}
