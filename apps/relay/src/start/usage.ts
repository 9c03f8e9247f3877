import { commands } from "../database-commands.ts";
import { operatorCommands } from "../command-line/operator-commands.ts";
import { formatVariables } from "../config/format-variables.ts";
import { version } from "../version.ts";

const PURPOSE_INDENT = "      ";

const formatCommands = (list: typeof operatorCommands | typeof commands) =>
  Object.values(list)
    .map(({ usage, purpose }) => `  ${usage}\n${PURPOSE_INDENT}${purpose}`)
    .join("\n");

/** Formats the help text of the command. */
export function formatUsage(): string {
  return `agent-relay ${version}

Usage: agent-relay [--check-config | --help | --version]
       agent-relay <command>

Without a command it listens on AGENT_HOST:PORT until SIGTERM or SIGINT. To try it:

  dev
${PURPOSE_INDENT}run a relay in memory with two sample agents and the console, until Ctrl-C

Commands for a running relay. They take --relay URL (by default AGENT_RELAY_URL, otherwise the relay on
this machine), AGENT_API_TOKEN or --token-file FILE, and --json. They exit with 1 if the relay refuses, 2 if
the arguments are invalid and 3 if no relay answers.

${formatCommands(operatorCommands)}

Commands for the database that the environment names:

${formatCommands(commands)}

The relay is configured by environment variables:

${formatVariables()}`;
}
