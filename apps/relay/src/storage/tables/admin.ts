/** The row exists while the relay is frozen. */
export interface FreezeRow {
  one: 1;
  since: number;
  reason: string;
  /** 1 if the relay is frozen because its database was restored from a backup. */
  restored: number;
  /** The operator that froze it; null for the relay itself. */
  frozen_by: string | null;
}

/** One row with the incarnation of the relay. */
export interface IncarnationRow {
  one: 1;
  /** POSIX seconds of the restore; 0 for a database that was never restored. */
  number: number;
  /** The PostgreSQL database in which the relay last started; null in SQLite. */
  database_id: string | null;
}
