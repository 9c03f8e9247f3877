import { hexToDidKey } from "@agent/crypto";
import { checkBooks } from "./admin/books/check-books.ts";
import { beginIncarnation } from "./admin/restore/begin-incarnation.ts";
import { isScrubPending } from "./identity/finish-scrub.ts";
import { restartLog } from "./log/restart-log.ts";
import { rotateRelayKey } from "./identity/rotate-relay-key.ts";
import { backupDatabase, restoreDatabase, type CopyResult } from "./storage/database/backup.ts";
import { saveBackupNote } from "./storage/database/backup-note.ts";
import { toMigrationStatus } from "./storage/database/migrate.ts";
import { copyDatabase } from "./storage/copying/copy-database.ts";
import { migrations } from "./storage/migrations/index.ts";
import { openStorage, type DatabaseLocation } from "./storage/open-storage.ts";
import { inspectStorage } from "./storage/inspect-storage.ts";

/** The output of a command and whether it succeeded. */
export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  /** The text is the answer, even if it names faults; otherwise the text of a failure is an error. */
  readonly isReport?: true;
}

/** The database of the environment: a file or a PostgreSQL database. */
type DatabasePlace = Pick<DatabaseLocation, "path" | "url">;

export interface CommandInput extends DatabasePlace {
  readonly arguments: readonly string[];
  /** `--status` was given. */
  readonly status: boolean;
  /** The time of the call, in milliseconds. */
  readonly now: number;
  readonly randomBytes: (length: number) => Uint8Array;
  /** The value of AGENT_RELAY_KEY_PASSPHRASE. */
  readonly passphrase?: string;
  /** `--stolen` was given. */
  readonly stolen?: boolean;
  /** `--reason`. */
  readonly reason?: string;
  /** `--from` or the file of the environment, and `--to` or its PostgreSQL database, for `copy`. */
  readonly from?: string;
  readonly to?: string;
}

interface Command {
  /** Its arguments and options, as `parseUsage` reads them. */
  readonly usage: string;
  readonly purpose: string;
  readonly run: (call: CommandInput) => CommandResult | Promise<CommandResult>;
}

/** The commands of an operator on the database of the environment. */
export const commands: Readonly<Record<string, Command>> = {
  backup: {
    usage: "backup FILE",
    purpose: "write the database to a new file, even while the relay runs",
    run: ({ arguments: [file = ""], path, now }) =>
      withFiles(path, file, (path, to) => {
        const written = backupDatabase(path, to, migrations);
        if (written.ok) saveBackupNote(path, now);
        return toCommandResult(written, `${path} is in ${to}`);
      }),
  },
  restore: {
    usage: "restore FILE",
    purpose: "restore a backup if there is no database; the relay then starts frozen",
    run: ({ arguments: [file = ""], path, now }) =>
      withFiles(path, file, (path, from) =>
        toCommandResult(restoreDatabase(from, path, migrations, now), `${path} is restored`),
      ),
  },
  restored: {
    usage: "restored",
    purpose: "declare that the PostgreSQL database was restored; the relay then starts frozen",
    async run({ path, url, now }) {
      if (url === undefined) {
        return {
          ok: false,
          text: "restored is for a PostgreSQL database; the database of a file is restored by restore FILE",
        };
      }
      const stored = inspectStorage({ path, url }, migrations);
      const known = await stored.check();
      if (!known.ok) return toCommandResult(known, "");
      const opened = await openStorage({ url, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      try {
        const number = await beginIncarnation(opened.storage, now);
        return { ok: true, text: `${stored.name} is incarnation ${number} of the relay` };
      } finally {
        await opened.storage.close();
      }
    },
  },
  copy: {
    usage: "copy [--from FILE] [--to URL]",
    purpose: "move the database of the stopped relay from a file to an empty PostgreSQL database",
    async run({ from, to }) {
      if (!from || !to) {
        return { ok: false, text: "--from must name the file and --to the database" };
      }
      const copied = await copyDatabase({ from, to, migrations });
      if (!copied.ok) return toCommandResult(copied, "");
      const { place, rows } = copied;
      if (rows === undefined) return { ok: true, text: `${from} is in ${place} already` };
      const counts = Object.entries(rows).filter(([, count]) => count > 0);
      const lines = counts.map(([table, count]) => `${String(count).padStart(10)}  ${table}`);
      const text = `${from} is in ${place}; every sum is the same on both sides`;
      return { ok: true, text: [...lines, text].join("\n") };
    },
  },
  check: {
    usage: "check",
    purpose: "check every page of the database and, for a file, every index",
    async run(input) {
      const stored = inspectStorage(input, migrations);
      const checked = await stored.check();
      if (!checked.ok) return toCommandResult(checked, "");
      const state = await readMigrationStatus(input);
      if (!state.ok) return state;
      const isPending = state.pending === 0 && (await stored.readSnapshot(isScrubPending));
      const warning =
        "\nidentity.scrub_pending: an earlier key or erased texts may still be in its files";
      return { ok: true, text: `${stored.name} is whole${isPending ? warning : ""}` };
    },
  },
  reconcile: {
    usage: "reconcile",
    purpose: "check that money, holds and records agree",
    async run(input) {
      const { now } = input;
      const stored = inspectStorage(input, migrations);
      const known = await stored.check();
      if (!known.ok) return toCommandResult(known, "");
      const state = await readMigrationStatus(input);
      if (!state.ok || state.pending > 0) return { ok: false, text: "migrate the database first" };
      const books = await stored.readSnapshot((read) =>
        checkBooks({ snapshot: (work) => work(read), now, since: 0 }),
      );
      return { ok: books.consistent, text: JSON.stringify(books, null, 2), isReport: true };
    },
  },
  "rotate-key": {
    usage: "rotate-key [--stolen] [--reason TEXT]",
    purpose:
      "give the stopped relay a new key under its id; both keys sign the step, and --stolen also replaces the keys of its log",
    async run({ path, url, now, randomBytes, passphrase, reason, stolen = false }) {
      const known = await inspectStorage({ path, url }, migrations).check();
      if (!known.ok) return toCommandResult(known, "");
      const opened = await openStorage({ path, url, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      try {
        const given = {
          ...(passphrase !== undefined && { passphrase }),
          ...(reason !== undefined && { reason }),
          isStolen: stolen,
        };
        const runtime = { now: () => now, randomBytes };
        const rotated = await rotateRelayKey(opened.storage, runtime, given);
        if (!rotated.ok) return { ok: false, text: `${rotated.code}: ${rotated.detail}` };
        const { relayId, publicKey } = rotated;
        const did = hexToDidKey(publicKey);
        const text = `${relayId} signs with ${did} from its next start: publish this key`;
        const advice = "make a backup now, because one from before has the old key";
        return { ok: true, text: `${text}\n${advice}` };
      } finally {
        await opened.storage.close();
      }
    },
  },
  log: {
    usage: "log restart",
    purpose: "begin a new generation of the stopped relay's transparency log",
    async run({ path, url, now }) {
      const known = await inspectStorage({ path, url }, migrations).check();
      if (!known.ok) return toCommandResult(known, "");
      const opened = await openStorage({ path, url, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      try {
        const origin = await restartLog(opened.storage, now);
        return origin === undefined
          ? { ok: false, text: "there is no log yet: start the relay once" }
          : { ok: true, text: `the log is ${origin} from the next start` };
      } finally {
        await opened.storage.close();
      }
    },
  },
  migrate: {
    usage: "migrate [--status]",
    purpose: "bring the schema up to date, or list the missing migrations",
    async run({ path, url, status }) {
      if (status) {
        const state = await readMigrationStatus({ path, url });
        return state.ok ? { ok: true, text: state.text } : state;
      }
      const opened = await openStorage({ path, url, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      await opened.storage.close();
      const count = opened.migrated.length;
      return { ok: true, text: count === 0 ? "nothing to do" : opened.migrated.join("\n") };
    },
  },
};

async function readMigrationStatus(
  database: DatabasePlace,
): Promise<{ ok: true; pending: number; text: string } | (CommandResult & { ok: false })> {
  const inspected = await inspectStorage(database, migrations).inspect();
  if (!inspected.ok) return { ...toCommandResult(inspected, ""), ok: false };
  const rows = toMigrationStatus(inspected.applied, migrations);
  const pending = rows.filter(({ applied }) => !applied).length;
  const lines = rows.map(({ id, applied }) => `${applied ? "applied" : "pending"}  ${id}`);
  const summary =
    pending === 0
      ? "up to date"
      : `${pending} of ${rows.length} missing: start the relay or run \`agent-relay migrate\``;
  return { ok: true, pending, text: [...lines, summary].join("\n") };
}

/** Runs a command for database files; the server of the other engine has tools of its own. */
function withFiles(
  path: string | undefined,
  file: string,
  run: (path: string, file: string) => CommandResult,
): CommandResult {
  if (path === undefined) {
    const text = "use pg_dump and pg_restore for a PostgreSQL database, then agent-relay restored";
    return { ok: false, text };
  }
  return run(path, file);
}

function toCommandResult(result: CopyResult, success: string): CommandResult {
  return result.ok
    ? { ok: true, text: success }
    : { ok: false, text: `${result.code}: ${result.detail}` };
}
