/** There is one while the relay stands still. */
export interface FreezeRow {
  one: 1;
  since: number;
  reason: string;
  /** 1 when it stands still because its database was restored from a backup. */
  restored: number;
}

/** One row: the life of the relay that the database belongs to. */
export interface IncarnationRow {
  one: 1;
  /** POSIX seconds of the restore; 0 for a database that was never restored. */
  number: number;
}
