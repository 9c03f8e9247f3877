import { parseArgs, type ParseArgsConfig } from "node:util";

/** The options of a program, as Node.js describes them. */
export type OptionTable = NonNullable<ParseArgsConfig["options"]>;

type Parsed<Options extends OptionTable> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>
>;

/** The options and arguments of a call, or one line that says why they cannot be read. */
export type ParsedOptions<Options extends OptionTable> =
  | {
      readonly ok: true;
      readonly values: Parsed<Options>["values"];
      readonly positionals: readonly string[];
      /** The names of the options that were given, without those that have their default. */
      readonly names: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/**
 * Parses the arguments of a program. Only an option that may be `multiple` is accepted twice: of any other the
 * last value would replace the first, which would look as if it had been applied.
 */
export function parseOptions<const Options extends OptionTable>(
  args: readonly string[],
  options: Options,
): ParsedOptions<Options> {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    const repeated = names.find(
      (name, index) => options[name]?.multiple !== true && names.indexOf(name) !== index,
    );
    if (repeated !== undefined) return { ok: false, message: `--${repeated} is given twice` };
    return { ok: true, values, positionals, names: [...new Set(names)] };
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
