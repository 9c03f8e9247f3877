import { checkBooks } from "./admin/books/check-books.ts";
import { rotateRelayKey } from "./identity/rotate-relay-key.ts";
import { backupDatabase, checkDatabase, restoreDatabase } from "./storage/database/backup.ts";
import type { DatabaseRefusal } from "./storage/database/database-refusal.ts";
import { inspectDatabase } from "./storage/database/inspect-database.ts";
import { toMigrationStatus } from "./storage/database/migrate.ts";
import { migrations } from "./storage/migrations/index.ts";
import { openStorage } from "./storage/open-storage.ts";
import { readDatabase } from "./storage/database/read-database.ts";

/** The output of a command and whether it succeeded. */
export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
}

export interface CommandInput {
  readonly arguments: readonly string[];
  /** `--status` was given. */
  readonly status: boolean;
  /** The database file of the environment. */
  readonly path: string;
  /** The time of the call, in milliseconds. */
  readonly now: number;
  readonly randomBytes: (length: number) => Uint8Array;
  /** The value of AGENT_RELAY_KEY_PASSPHRASE. */
  readonly passphrase?: string;
  /** `--reason`. */
  readonly reason?: string;
}

interface Command {
  readonly usage: string;
  readonly purpose: string;
  readonly run: (call: CommandInput) => CommandResult | Promise<CommandResult>;
}

/** The commands of an operator on the database of AGENT_DB_PATH. */
export const commands: Readonly<Record<string, Command>> = {
  backup: {
    usage: "backup FILE",
    purpose: "write the database into a new file, also while the relay runs",
    run: ({ arguments: [file], path }) =>
      withFile(file, (to) =>
        toCommandResult(backupDatabase(path, to, migrations), `${path} is in ${to}`),
      ),
  },
  restore: {
    usage: "restore FILE",
    purpose: "put a backup where no database is; the relay then starts frozen",
    run: ({ arguments: [file], path, now }) =>
      withFile(file, (from) =>
        toCommandResult(restoreDatabase(from, path, migrations, now), `${path} is restored`),
      ),
  },
  check: {
    usage: "check",
    purpose: "compare every page and index of the database",
    run: ({ path }) => toCommandResult(checkDatabase(path, migrations), `${path} is whole`),
  },
  reconcile: {
    usage: "reconcile",
    purpose: "check that money, holds and records agree",
    async run({ path, now }) {
      const known = checkDatabase(path, migrations);
      if (!known.ok) return toCommandResult(known, "");
      const state = await readMigrationStatus(path);
      if (!state.ok || state.pending > 0) return { ok: false, text: "migrate the database first" };
      const books = await readDatabase(path, (read) =>
        checkBooks({ snapshot: (work) => work(read), now, since: 0 }),
      );
      return { ok: books.consistent, text: JSON.stringify(books, null, 2) };
    },
  },
  "rotate-key": {
    usage: "rotate-key [--reason TEXT]",
    purpose: "give the stopped relay a new key under its id; both keys sign the step",
    async run({ path, now, randomBytes, passphrase, reason }) {
      const known = checkDatabase(path, migrations);
      if (!known.ok) return toCommandResult(known, "");
      const opened = await openStorage({ path, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      try {
        const given = {
          ...(passphrase !== undefined && { passphrase }),
          ...(reason !== undefined && { reason }),
        };
        const runtime = { now: () => now, randomBytes };
        const rotated = await rotateRelayKey(opened.storage, runtime, given);
        if (!rotated.ok) return { ok: false, text: `${rotated.code}: ${rotated.detail}` };
        const { relayId, publicKey } = rotated;
        const text = `${relayId} signs with ${publicKey} from its next start; make a backup now, because one from before has the old key`;
        return { ok: true, text };
      } finally {
        await opened.storage.close();
      }
    },
  },
  migrate: {
    usage: "migrate [--status]",
    purpose: "bring the schema up to date, or show what is missing",
    async run({ path, status }) {
      if (status) {
        const state = await readMigrationStatus(path);
        return state.ok ? { ok: true, text: state.text } : state;
      }
      const opened = await openStorage({ path, migrations });
      if (!opened.ok) return toCommandResult(opened, "");
      await opened.storage.close();
      const count = opened.migrated.length;
      return { ok: true, text: count === 0 ? "nothing to do" : opened.migrated.join("\n") };
    },
  },
};

async function readMigrationStatus(
  path: string,
): Promise<{ ok: true; pending: number; text: string } | (CommandResult & { ok: false })> {
  const inspected = inspectDatabase({ path, migrations });
  if (!inspected.ok) return { ...toCommandResult(inspected, ""), ok: false };
  const rows = toMigrationStatus(inspected.applied, migrations);
  return {
    ok: true,
    pending: rows.filter(({ applied }) => !applied).length,
    text: rows.map(({ id, applied }) => `${applied ? "applied" : "pending"}  ${id}`).join("\n"),
  };
}

function withFile(file: string | undefined, run: (file: string) => CommandResult): CommandResult {
  return file === undefined ? { ok: false, text: "name a file" } : run(file);
}

function toCommandResult(
  result: { readonly ok: true } | DatabaseRefusal,
  success: string,
): CommandResult {
  return result.ok
    ? { ok: true, text: success }
    : { ok: false, text: `${result.code}: ${result.detail}` };
}
