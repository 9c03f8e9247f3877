import { createRelayClient, type RelayClient } from "@agent/client";
import { startBalancer } from "@agent/testkit";
import { startPostgres } from "@agent/test-postgres";
import type { Operations, Result } from "@agent/wire";
import { readRelayUrl } from "../participants/participants.ts";
import type { Processes } from "../participants/processes.ts";
import { buildMemberProgram, createSecret } from "../participants/programs.ts";
import { unwrapBody } from "../participants/unwrap-body.ts";

/** One of the processes of a relay. */
export interface ClusterMember {
  readonly name: string;
  readonly url: string;
  /** Resolves when a device of the agent has connected to this process. */
  waitForDevice(agentId: string): Promise<void>;
  /** Kills the process as a crash would. */
  kill(): Promise<void>;
}

/** Two processes of one relay that share a database, behind a load balancer. */
export interface Cluster {
  /** The address of the load balancer. */
  readonly url: string;
  readonly members: readonly [ClusterMember, ClusterMember];
  readonly info: Result<Operations["relayInfo"]>;
  /** A client with the master token that connects to the load balancer. */
  readonly operator: RelayClient;
  /** Stops the load balancer and the database server; the processes must be stopped before. */
  stop(): Promise<void>;
}

export async function startCluster(processes: Processes): Promise<Cluster> {
  const server = await startPostgres();
  const masterToken = createSecret();
  const env = {
    AGENT_DATABASE_URL: server.url,
    AGENT_API_TOKEN: masterToken,
    AGENT_RELAY_KEY_PASSPHRASE: createSecret(),
    AGENT_RATE_LIMIT_SCALE: "0",
  };
  const live = new Set<string>();
  const start = async (name: string): Promise<ClusterMember> => {
    const running = processes.start(buildMemberProgram({ name, env }));
    const url = await readRelayUrl(running);
    live.add(url);
    return {
      name,
      url,
      waitForDevice: (agentId) =>
        running
          .waitForLine(
            (line) =>
              (line.includes('"msg":"ws.connected"') && line.includes(agentId)) || undefined,
          )
          .then(() => {}),
      async kill() {
        await running.crash();
        live.delete(url);
      },
    };
  };
  const members = await Promise.all([start("relay-1"), start("relay-2")] as const);
  const balancer = await startBalancer(() => [...live]);
  const operator = createRelayClient({ baseUrl: balancer.url, identity: { masterToken } });
  return {
    url: balancer.url,
    members,
    info: unwrapBody(await operator.relayInfo()),
    operator,
    async stop() {
      await balancer.close();
      await server.stop();
    },
  };
}
