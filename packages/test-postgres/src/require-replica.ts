import { REPLICA_NAME } from "./copy-primary.ts";
import { openConnection } from "./databases.ts";

const MAX_POLLS = 200;

/** Makes each commit of a server wait until its replica has stored it. */
export async function requireReplica(primaryUrl: string): Promise<void> {
  const connection = await openConnection(primaryUrl);
  try {
    await connection.query(`ALTER SYSTEM SET synchronous_standby_names = '${REPLICA_NAME}'`);
    await connection.query("SELECT pg_reload_conf()");
    const query = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    for (let poll = 0; (await connection.query(query)).rowCount === 0; poll += 1) {
      if (poll === MAX_POLLS) throw new Error("the replica did not become synchronous");
      await connection.query("SELECT pg_sleep(0.05)");
    }
    // Commits wait once the checkpointer has read the setting, which it does before it answers.
    await connection.query("CHECKPOINT");
  } finally {
    await connection.end();
  }
}
