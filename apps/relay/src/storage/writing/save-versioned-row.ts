import type { Query, Tx } from "../storage.ts";

/** The statements that store a row; the update is of the row whose version is `before`. */
interface VersionedStatements<Row> {
  readonly insertRow: Query<Row, never>;
  readonly updateRow: Query<Row & { readonly before: number }, never>;
}

/**
 * Inserts a row with version 1, or updates the row with the previous version. A conflicting change in
 * between fails the whole transaction with an error about `name`.
 */
export async function saveVersionedRow<Row extends { readonly version: number }>(
  tx: Tx,
  { insertRow, updateRow }: VersionedStatements<Row>,
  row: Row,
  name: string,
): Promise<void> {
  const before = row.version - 1;
  if (before === 0) await tx.run(insertRow, row);
  else if ((await tx.run(updateRow, { ...row, before })) !== 1) {
    throw new Error(`${name} was changed by another transaction`);
  }
}
