import { parseArgs } from "node:util";

const flagOptions = {
  config: { type: "string" },
  tools: { type: "string", multiple: true },
  transport: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  direct: { type: "boolean" },
  "self-test": { type: "boolean" },
  "allow-anonymous": { type: "boolean" },
  "check-config": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

export interface Flags {
  /** The folder that `init` writes into; absent: another command. */
  readonly init?: string;
  /** Shows what has changed of the wrapped servers' tools, and confirms it. */
  readonly confirmTools: boolean;
  readonly config?: string;
  readonly tools?: readonly string[];
  readonly transport?: string;
  readonly host?: string;
  readonly port?: string;
  readonly direct: boolean;
  readonly selfTest: boolean;
  readonly allowAnonymous: boolean;
  readonly checkConfig: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** Reads the arguments behind the command's name; every wrong one is a fault, the others still count. */
export function parseFlags(args: readonly string[]): { flags: Flags; faults: string[] } {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: flagOptions,
    strict: false,
    allowPositionals: true,
  });
  const [command, folder = ".", ...rest] = positionals;
  const init = command === "init" ? { init: folder } : {};
  const confirmTools = command === "confirm-tools";
  const faults: string[] = [];
  const isKnown = command === undefined || command === "init" || confirmTools;
  if (!isKnown || rest.length > 0 || (confirmTools && positionals.length > 1)) {
    faults.push(
      'arguments: nothing but "init" with its folder, or "confirm-tools", may stand beside the flags',
    );
  }
  if (command === "init" && Object.keys(values).length > 0) faults.push("init: takes no flags");
  for (const [name, value] of Object.entries(values)) {
    const expected = isFlag(name) ? flagOptions[name].type : undefined;
    const given = Array.isArray(value) ? value : [value];
    if (expected === undefined) faults.push(`--${name}: is not a flag of this command`);
    else if (given.some((one) => typeof one !== expected)) {
      faults.push(`--${name}: ${expected === "string" ? "needs a value" : "takes no value"}`);
    }
  }
  const textFlag = (name: "config" | "transport" | "host" | "port") => {
    const value = values[name];
    return typeof value === "string" ? { [name]: value } : {};
  };
  const tools = values.tools?.filter((path) => typeof path === "string");
  return {
    faults,
    flags: {
      ...init,
      confirmTools,
      ...textFlag("config"),
      ...textFlag("transport"),
      ...textFlag("host"),
      ...textFlag("port"),
      ...(tools !== undefined && { tools }),
      direct: values.direct === true,
      selfTest: values["self-test"] === true,
      allowAnonymous: values["allow-anonymous"] === true,
      checkConfig: values["check-config"] === true,
      help: values.help === true,
      version: values.version === true,
    },
  };
}

function isFlag(name: string): name is keyof typeof flagOptions {
  return Object.hasOwn(flagOptions, name);
}
