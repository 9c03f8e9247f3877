import type { Config } from "../config/config.ts";
import type { FreezeState } from "../admin/freeze.ts";
import { formatConsoleLink } from "../command-line/session-commands.ts";
import type { Block, Cell } from "../command-line/format-blocks.ts";
import { formatTime } from "../command-line/format-values.ts";
import { describePlace } from "../storage/postgres/connection-settings.ts";
import { version } from "../version.ts";

export interface StartedRelay {
  readonly config: Config;
  readonly relayId: string;
  readonly port: number;
  readonly frozen: FreezeState | undefined;
  /** The code of a console session; undefined if there is no console. */
  readonly code: string | undefined;
}

/** Builds the lines that a person at a terminal is shown when a relay has started. */
export function describeStart(relay: StartedRelay): readonly Block[] {
  const { config, relayId, frozen, code } = relay;
  const { identity, storage, server } = config;
  const address = getLocalAddress(relay);
  const isSealed = identity.keyPassphrase !== undefined;
  const lines: (Cell | undefined)[] = [
    { text: `${identity.relayName}  ${relayId}  ${version}`, tone: "strong" },
    frozen && {
      text: `FROZEN since ${formatTime(frozen.since)}: ${frozen.reason}`,
      tone: "bad",
    },
    `address   ${address}${server.baseUrl === undefined ? "" : `, public ${server.baseUrl}`}`,
    code &&
      `console   ${formatConsoleLink(server.baseUrl ?? address, code)}  (once, within 5 minutes)`,
    describeDatabase(storage),
    isSealed
      ? "key       sealed by AGENT_RELAY_KEY_PASSPHRASE"
      : { text: "key       not sealed: set AGENT_RELAY_KEY_PASSPHRASE", tone: "bad" },
    `on        ${listFeatures(config, true).join(", ") || "-"}`,
    `off       ${listFeatures(config, false).join(", ") || "-"}`,
    { text: "stop      Ctrl-C", tone: "quiet" },
  ];
  return lines.filter((line) => line !== undefined);
}

/** Returns the address at which this machine reaches the relay. */
export function getLocalAddress({ config, port }: Pick<StartedRelay, "config" | "port">): string {
  const { host } = config.server;
  const isAny = host === "0.0.0.0" || host === "::";
  const name = isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function describeDatabase({ databasePath, databaseUrl }: Config["storage"]): Cell {
  if (databaseUrl !== undefined) return `database  ${describePlace(databaseUrl)}`;
  if (databasePath !== ":memory:") return `database  ${databasePath}`;
  return { text: "database  in memory: everything is lost at the end", tone: "bad" };
}

function listFeatures(config: Config, isOn: boolean): string[] {
  const features: readonly (readonly [string, boolean])[] = [
    ["federation", config.federation.endpointUrl !== undefined],
    ["x402 payments", config.payments.realPayments],
    ["card deposits", config.payments.cardSecretKey !== undefined],
    ["transparency log", config.log.isOn],
    ["witness", config.witness.isOn],
    ["credentials", config.identity.issueCredentials],
    ["console", config.server.console === "on"],
    ["rate limits", config.server.rateLimitScale > 0],
  ];
  return features.filter(([, on]) => on === isOn).map(([name]) => name);
}
