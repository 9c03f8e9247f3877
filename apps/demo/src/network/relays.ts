import { createRelayClient, type RelayClient } from "@agent/client";
import { findFreePort } from "@agent/testkit";
import type { Operations, Result } from "@agent/wire";
import { unwrapBody } from "../participants/unwrap-body.ts";
import type { Processes, Program, RunningProcess } from "../participants/processes.ts";
import { createSecret, buildPeerRelayProgram } from "../participants/programs.ts";

/** A running relay of the network. */
export interface NetworkRelay {
  readonly name: string;
  readonly url: string;
  readonly info: Result<Operations["relayInfo"]>;
  /** A client with the master token. */
  readonly operator: RelayClient;
  /** Kills the relay; `restart` starts it again with its database, with the same program or a changed one. */
  readonly crash: () => Promise<{
    readonly restart: (change?: Partial<Program>) => Promise<RunningProcess>;
  }>;
}

/** Starts a relay on a currently free port that stays the same, so that its peers find it after a restart. */
export async function startRelay(
  processes: Processes,
  name: string,
  dataDir: string,
  env: Program["env"] = {},
): Promise<NetworkRelay> {
  const masterToken = createSecret();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const program = buildPeerRelayProgram({ name, port, masterToken, dataDir, env });
  const start = async (change: Partial<Program> = {}): Promise<RunningProcess> => {
    const running = processes.start({
      ...program,
      ...change,
      env: { ...program.env, ...change.env },
    });
    await running.waitForLine((line) => line.includes('"msg":"relay.listening"') || undefined);
    return running;
  };
  let running = await start();
  const operator = createRelayClient({ baseUrl: url, identity: { masterToken } });
  return {
    name,
    url,
    info: unwrapBody(await operator.relayInfo()),
    operator,
    async crash() {
      await running.crash();
      return {
        async restart(change) {
          running = await start(change);
          return running;
        },
      };
    },
  };
}

/** Completes the handshake between two relays. */
export async function addPeering(one: NetworkRelay, other: NetworkRelay): Promise<void> {
  unwrapBody(await one.operator.addPeer({ body: { endpoint_url: other.url } }));
}
