import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes a file durable, or the entries of a folder, such as a rename. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
