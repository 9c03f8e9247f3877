import { parseOptions } from "@agent/command-line";
import { operatorOptions, type OperatorOptions } from "../command-line/operator-command.ts";

/** The options of the relay itself and of the commands on its database. */
const processOptions = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  "check-config": { type: "boolean" },
  status: { type: "boolean" },
  stolen: { type: "boolean" },
} as const;

export interface ProcessFlags {
  readonly help?: boolean;
  readonly version?: boolean;
  readonly "check-config"?: boolean;
  /** Of the commands on the database. */
  readonly status?: boolean;
  readonly stolen?: boolean;
}

interface CommandLine {
  readonly ok: true;
  /** The name of the command; undefined starts the relay. */
  readonly name: string | undefined;
  readonly args: readonly string[];
  readonly flags: ProcessFlags;
  readonly options: OperatorOptions;
}

/** Parses the arguments of the process; a fault is one line. */
export function parseCommandLine(
  argv: readonly string[],
): CommandLine | { readonly ok: false; readonly message: string } {
  const parsed = parseOptions(argv, { ...operatorOptions, ...processOptions });
  if (!parsed.ok) return parsed;
  const { help, version, "check-config": checkConfig, status, stolen, ...options } = parsed.values;
  const [name, ...args] = parsed.positionals;
  const flags = {
    ...(help === true && { help }),
    ...(version === true && { version }),
    ...(checkConfig === true && { "check-config": checkConfig }),
    ...(status === true && { status }),
    ...(stolen === true && { stolen }),
  };
  return { ok: true, name, args, flags, options };
}
