import { spawnSync } from "node:child_process";
import { appendFileSync, chownSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openConnection } from "./databases.ts";

/** A server to follow: its address and the folder of its data. */
export interface Primary {
  readonly url: string;
  readonly data: string;
}

/** The user of the server, where that is not the one of this process. */
interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The name by which the primary's `synchronous_standby_names` knows a replica. */
export const REPLICA_NAME = "replica";

/**
 * Copies the data of a running server into a folder, whose server then follows it. The registry has no
 * `pg_basebackup`, so its steps are taken here. The files are copied by `cp`, which can run as the user
 * of the server.
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
    // They name the process of the primary, which the server of the copy would take for its own.
    for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(target, name));
    write("backup_label", rows[0]?.labelfile ?? "");
  } finally {
    await connection.end();
  }
  const { hostname, port } = new URL(url);
  const conninfo = `host=${hostname} port=${port} user=postgres application_name=${REPLICA_NAME}`;
  // In the file and not an argument, so that a test can cut the replica off by ALTER SYSTEM.
  appendFileSync(join(target, "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
  write("standby.signal", "");
}
