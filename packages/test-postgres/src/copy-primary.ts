import { spawnSync } from "node:child_process";
import { appendFileSync, chownSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openConnection } from "./databases.ts";

/** A server to replicate: its address and its data folder. */
export interface Primary {
  readonly url: string;
  readonly data: string;
}

/** The user that runs the server, if it differs from the user of this process. */
interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The name under which the primary's `synchronous_standby_names` lists the replica. */
export const REPLICA_NAME = "replica";

/**
 * Copies the data of a running server into a folder, so that a server on that folder replicates the first one.
 * The registry has no `pg_basebackup`, so its steps are done here. `cp` copies the files, because it can run as
 * the server's user.
 */
export async function copyPrimary(
  { url, data }: Primary,
  target: string,
  user: ServerUser | undefined,
): Promise<void> {
  const write = (name: string, text: string) => {
    writeFileSync(join(target, name), text);
    if (user !== undefined) chownSync(join(target, name), user.uid, user.gid);
  };
  const connection = await openConnection(url);
  try {
    await connection.query("SELECT pg_backup_start('replica', fast => true)");
    const { status, stderr } = spawnSync("cp", ["-Rp", data, target], {
      ...user,
      cwd: dirname(target),
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`copying ${data} failed: ${stderr}`);
    const { rows } = await connection.query<{ labelfile: string }>(
      "SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)",
    );
    // These files name the process of the primary, which a server on the copy would mistake for its own.
    for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(target, name));
    write("backup_label", rows[0]?.labelfile ?? "");
  } finally {
    await connection.end();
  }
  const { hostname, port } = new URL(url);
  const conninfo = `host=${hostname} port=${port} user=postgres application_name=${REPLICA_NAME}`;
  // Written to the file instead of passed as an argument, so that a test can cut the replica off with ALTER SYSTEM.
  appendFileSync(join(target, "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
  write("standby.signal", "");
}
