import { parseArgs } from "node:util";

export interface Flags {
  readonly config?: string;
  readonly tools?: readonly string[];
  readonly transport?: string;
  readonly port?: string;
  readonly host?: string;
  readonly direct: boolean;
  readonly selfTest: boolean;
  readonly allowAnonymous: boolean;
  readonly checkConfig: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** Reads the arguments behind the command's name; the first one that is wrong is the fault. */
export function readFlags(
  args: readonly string[],
): { ok: true; flags: Flags } | { ok: false; fault: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        config: { type: "string" },
        tools: { type: "string", multiple: true },
        transport: { type: "string" },
        port: { type: "string" },
        host: { type: "string" },
        direct: { type: "boolean" },
        "self-test": { type: "boolean" },
        "allow-anonymous": { type: "boolean" },
        "check-config": { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
    const { config, tools, transport, port, host } = values;
    return {
      ok: true,
      flags: {
        ...(config !== undefined && { config }),
        ...(tools !== undefined && { tools }),
        ...(transport !== undefined && { transport }),
        ...(port !== undefined && { port }),
        ...(host !== undefined && { host }),
        direct: values.direct === true,
        selfTest: values["self-test"] === true,
        allowAnonymous: values["allow-anonymous"] === true,
        checkConfig: values["check-config"] === true,
        help: values.help === true,
        version: values.version === true,
      },
    };
  } catch (cause) {
    return { ok: false, fault: cause instanceof Error ? cause.message : String(cause) };
  }
}
