import { parseArgs } from "node:util";
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
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...operatorOptions, ...processOptions },
      tokens: true,
    });
    const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) return { ok: false, message: `--${repeated} is given twice` };
    const { help, version, "check-config": checkConfig, status, stolen, ...options } = values;
    const [name, ...args] = positionals;
    const flags = {
      ...(help === true && { help }),
      ...(version === true && { version }),
      ...(checkConfig === true && { "check-config": checkConfig }),
      ...(status === true && { status }),
      ...(stolen === true && { stolen }),
    };
    return { ok: true, name, args, flags, options };
  } catch (error) {
    return { ok: false, message: describeFault(error) };
  }
}

/** Node.js treats everything that begins with a dash as an option, even a negative amount. */
function describeFault(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error);
  const [, number] = /^Unknown option '(-[\d.])/.exec(text) ?? [];
  if (number !== undefined) return `an argument that begins with ${number} is not possible here`;
  const [, option] = /^Option '(--[\w-]+)' argument is ambiguous/.exec(text) ?? [];
  if (option !== undefined) return `${option} needs a value that does not begin with a dash`;
  const [sentence = "the arguments cannot be read"] = text.split(/\. |\n/);
  return sentence.replace(/\.$/, "");
}
