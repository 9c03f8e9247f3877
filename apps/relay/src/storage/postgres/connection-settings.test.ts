import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { expect, test } from "vitest";
import { openDatabaseOf } from "../../../test/engine/database-of-path.ts";
import { onlyOn } from "../../../test/engine/engine.ts";
import { systemRuntime } from "../../../test/processes/system-runtime.ts";
import { migrations } from "../migrations/index.ts";
import { openStorage } from "../open-storage.ts";

/** A timer of this kind probes the other end of an idle connection. */
const KEEPALIVE = "02";
const TICKS_PER_SECOND = 100;

/** The longest time without an answer to a probe. */
const KEEPALIVE_SECONDS = 10;

/** Lists the local port of each connection of this machine that has such a timer, with its seconds. */
function listKeepalives(): { readonly ports: string; readonly seconds: number }[] {
  const toPort = (address = "") => parseInt(address.split(":")[1] ?? "", 16);
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , , , timer]) => timer?.startsWith(`${KEEPALIVE}:`))
    .map(([, local, remote, , , timer]) => ({
      ports: `${toPort(local)} to ${toPort(remote)}`,
      seconds: parseInt(timer?.split(":")[1] ?? "", 16) / TICKS_PER_SECOND,
    }));
}

test.runIf(onlyOn("postgres"))(
  "either end of the connection that holds the locks soon notices that the other machine is gone",
  async () => {
    const url = await openDatabaseOf(randomUUID());
    const opened = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!opened.ok) throw new Error(opened.detail);
    const holders = await runStatement(
      url,
      `SELECT client_port FROM pg_stat_activity JOIN pg_locks USING (pid)
       WHERE datname = current_database() AND locktype = 'advisory' GROUP BY client_port`,
    );
    expect(holders).toHaveLength(1);
    const [port, server] = [String(holders[0]?.["client_port"]), new URL(url).port];
    for (const ports of [`${port} to ${server}`, `${server} to ${port}`]) {
      // A connection has another timer while bytes are on their way.
      await expect
        .poll(() => listKeepalives().find((each) => each.ports === ports)?.seconds)
        .toSatisfy((seconds) => Number(seconds) <= KEEPALIVE_SECONDS);
    }
    await opened.storage.close();
  },
);
